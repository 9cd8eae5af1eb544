/** The record index in its own store, built from requests, with naive results to compare with. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { type Grouping, MISSING } from '../../application/logs/query/aggregate.js';
import { yieldOnly } from '../../application/logs/query/query-budget.js';
import type { RecordedEvent } from '../../application/ports/index.js';
import { type BatchSecret, createBatches, recordTexts } from '../../domain/logs/batch.js';
import { catalog } from '../../domain/logs/catalog.js';
import { leavesAt } from '../../domain/logs/filter.js';
import type { JsonObject } from '../../domain/logs/json.js';
import { type IdentifiedRecord, parseRecord } from '../../domain/logs/record.js';
import { compareRecords, recordId } from '../../domain/logs/record-id.js';
import { bucketSubject } from '../../domain/logs/retention-bucket.js';
import { HOUR_MS } from '../../domain/logs/timestamp.js';
import type { Row } from '../../projections/kernel/projection.js';
import { createRecordIndex } from '../../projections/logs/index/reader.js';
import { records } from '../../projections/logs/index/records.js';
import type { BlockRow, SectionsRow } from '../../projections/logs/index/rows.js';
import { NOON, record } from '../domain/logs/arbitrary.js';
import { recordText } from './log-node.js';
import { startKernel } from './test-kernel.js';

/** Records of one ingest request. */
export interface Request {
  readonly producerId: string;
  readonly receivedAt: number;
  readonly records: readonly JsonObject[];
}

const few = fc.array(record, { minLength: 1, maxLength: 6 });
/** Enough records to make their own blocks, or to fill an open one. */
export const many = fc
  .tuple(few, fc.integer({ min: 80, max: 130 }))
  .map(([some, times]) => Array(times).fill(some).flat());

/** Records of more hours than are counted, some with many records, some far from the time of receipt. */
const scattered = few.map((some) =>
  Array.from({ length: 320 }, (_, n) => [
    { ...some[n % some.length], timestamp: NOON - n * (n % 8 ? 1 : 200) * HOUR_MS },
    ...(n % 40 ? [] : some),
  ]).flat(),
);

/** Requests of few producers and days, short and long, close together and scattered. */
export const requests: fc.Arbitrary<readonly Request[]> = fc.array(
  fc.record({
    producerId: fc.constantFrom('api', 'web'),
    receivedAt: fc.constantFrom(NOON, NOON + 5, NOON + 86_400_000),
    records: fc.oneof(
      { weight: 6, arbitrary: few },
      { weight: 1, arbitrary: many },
      { weight: 1, arbitrary: scattered },
    ),
  }),
  { minLength: 1, maxLength: 12 },
);

/** A lease that is always held. */
export const held = { assertHeld() {} };

/** Counting without limits. */
export const leisurely = { checkpoint: yieldOnly, budget: { remaining: Number.POSITIVE_INFINITY } };

export type IndexFixture = Awaited<ReturnType<typeof startIndexFixture>>;

/** Starts engines with an empty store, and builds and queries the index there; to be stopped. */
export async function startIndexFixture() {
  const { kernel, stop } = await startKernel([catalog], [records]);
  let position = 100n;

  /** `bytes`: assumed size of a record, which decides the size of batches. */
  async function ingested(all: readonly Request[], bytes = 2000): Promise<RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for (const request of all) {
      const given = request.records.map((data) => ({ ...recordText(data), bytes }));
      for (const { data } of createBatches({ ...request, records: given, rejected: 0 })) {
        await kernel.vault.create(bucketSubject(data));
        events.push(recorded({ ...data, secret: await kernel.vault.seal(bucketSubject(data), data.secret) }));
      }
    }
    return events;
  }

  function recorded(data: object, type = 'RecordsIngested'): RecordedEvent {
    position += 17n;
    const common = { id: randomUUID(), stream: 'logs.batch-x', revision: 0, version: 1, recordedAt: NOON };
    return { ...common, position, type, data: { ...data }, metadata: {} };
  }

  async function placedRecords(events: readonly RecordedEvent[]): Promise<IdentifiedRecord[]> {
    const all: IdentifiedRecord[] = [];
    for (const { data, position } of events) {
      const { producerId, receivedAt, secret } = data as {
        producerId: string;
        receivedAt: number;
        secret: string;
      };
      const opened = await kernel.vault.open(bucketSubject(data as never), secret);
      for (const [place, each] of recordTexts(opened as BatchSecret).entries())
        all.push({ ...parseRecord(each, producerId, receivedAt), id: recordId(position, place) });
    }
    return all.sort(compareRecords);
  }

  async function build(...batches: readonly (readonly RecordedEvent[])[]) {
    const name = `logs_records_v${records.version}_${randomUUID().slice(0, 8)}`;
    // The leader changes now and then, and loses its cache.
    let apply = await kernel.builds.open(records, name, held);
    for (const [index, events] of batches.entries()) {
      if (index % 3 === 2) apply = await kernel.builds.open(records, name, held);
      await apply(events);
    }
    return name;
  }

  const rowsOf = async (name: string) => {
    const rows: Row[] = [];
    for await (const row of kernel.builds.scan(records, name)) rows.push(row);
    return rows;
  };

  const blocksOf = (name: string) => kernel.mongo.models.collection<BlockRow>(`${name}.blocks`);
  const sectionsOf = (name: string) => kernel.mongo.models.collection<SectionsRow>(`${name}.sections`);

  const indexOf = (name: string): ReturnType<typeof createRecordIndex> =>
    createRecordIndex({
      db: kernel.mongo.models,
      vault: kernel.vault,
      build: () => name,
      version: () => position,
    });

  return {
    kernel,
    ingested,
    recorded,
    placedRecords,
    build,
    rowsOf,
    blocksOf,
    sectionsOf,
    indexOf,
    stop,
  };
}

export const grouping: fc.Arbitrary<Grouping> = fc.oneof(
  fc.constantFrom<Grouping>({ by: 'level' }, { by: 'event' }, { by: 'producer' }, { by: 'correlation' }),
  fc
    .constantFrom('http.status', 'tags', 'a', 'a.b', 'message', 'correlationId')
    .map((path): Grouping => ({ by: 'field', path })),
  fc
    .constantFrom(60_000, HOUR_MS, 2 * HOUR_MS, 24 * HOUR_MS)
    .map((intervalMs): Grouping => ({ by: 'time', intervalMs })),
);

/** Keys of the groups that a record belongs to. */
export function keysOf(grouping: Grouping, each: IdentifiedRecord): string[] {
  if (grouping.by === 'field') {
    const values = new Set(leavesAt(each.data, grouping.path).map(String));
    return values.size > 0 ? [...values] : [MISSING];
  }
  if (grouping.by === 'time')
    return [new Date(Math.floor(each.instant / grouping.intervalMs) * grouping.intervalMs).toISOString()];
  if (grouping.by === 'level') return [each.level];
  if (grouping.by === 'producer') return [each.producerId];
  return [(grouping.by === 'event' ? each.event : each.correlationId) ?? MISSING];
}
