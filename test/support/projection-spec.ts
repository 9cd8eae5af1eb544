/** Spec of a projection: given these events, then these rows; the same after redelivery and a rebuild. */
import { randomUUID } from 'node:crypto';
import { type MongoServer, mongoServer } from '@annals/engines/testing/mongo.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { type Collection, Long } from 'mongodb';
import { connectMongo, type Mongo } from '../../adapters/mongo/client.js';
import { createBuilds } from '../../adapters/mongo/rows/row-store.js';
import type { RecordedEvent, Vault } from '../../application/ports/index.js';
import type { DomainEvent } from '../../domain/shared/decider.js';
import { type AnyProjection, type Apply, collectionName, type Row } from '../../projections/kernel/projection.js';

/** The sealed form of a secret in a row. */
export const sealed = (secret: unknown): string => Buffer.from(JSON.stringify(secret)).toString('base64url');

/** A row without its position. */
export interface ShownRow {
  readonly _id: string;
  readonly [field: string]: unknown;
}

/** Above 2^53, where JavaScript numbers are not exact. */
const FIRST = 9_007_199_254_740_993n;

/** Redelivery as from a checkpoint: `back` events back, then `take` events. */
const step = fc.record({ back: fc.oneof(fc.constant(0), fc.nat(2000)), take: fc.nat(2000) });
const deliveries = fc.array(step, { maxLength: 6 });
const RUNS = 5;

/**
 * To be called within `describe`: starts a server for all of its tests. Events are given as deciders emit them and
 * delivered as recorded: with streams, revisions and sealed secrets. The first has the id `e0`.
 */
export function projectionSpec<Event extends DomainEvent>(model: AnyProjection, streamOf: (event: Event) => string) {
  let server: MongoServer;
  let mongo: Mongo;
  let rows: Collection<Row>;
  let apply: Apply;
  before(async () => {
    server = await mongoServer();
    mongo = await connectMongo(server.url, `test_${randomUUID().slice(0, 8)}`);
    const name = collectionName(model, 'spec');
    rows = mongo.models.collection(name);
    apply = await createBuilds(mongo.models, {} as Vault).open(model, name, { assertHeld() {} });
  });
  after(async () => {
    await mongo?.models.dropDatabase();
    await mongo?.close();
    await server?.stop();
  });

  const raw = () => rows.find().sort({ _id: 1 }).toArray();

  /** The events as recorded in the log. */
  function recorded(events: readonly Event[]): RecordedEvent[] {
    const lengths = new Map<string, number>();
    return events.map((event, index) => {
      const stream = streamOf(event);
      const revision = lengths.get(stream) ?? 0;
      lengths.set(stream, revision + 1);
      const { secret, ...data } = event.data;
      return {
        id: `e${index}`,
        type: event.type,
        data: secret === undefined ? data : { ...data, secret: sealed(secret) },
        stream,
        revision,
        position: FIRST + BigInt(index),
        version: 1,
        recordedAt: 1_800_000_000_000 + index,
        metadata: {},
      };
    });
  }

  /** The rows of a rebuild: all events in one batch. */
  async function rebuilt(events: readonly RecordedEvent[]): Promise<readonly Row[]> {
    await rows.deleteMany({});
    await apply(events);
    return raw();
  }

  /** Property: under redelivery in any batches, rows never go back and end in the same state. */
  async function redelivered(events: readonly RecordedEvent[], end: readonly Row[]): Promise<void> {
    const property = fc.asyncProperty(deliveries, async (steps) => {
      await rows.deleteMany({});
      let [at, seen] = [0, 0];
      let standing: readonly Row[] = [];
      for (const { back, take } of steps) {
        const from = at - (back % (at + 1));
        at = Math.min(events.length, from + 1 + (take % events.length));
        await apply(events.slice(from, at));
        if (at > seen) [seen, standing] = [at, await raw()];
        else expect(await raw(), 'redelivered').to.include.deep.members([...standing]);
      }
      await apply(events.slice(at));
      expect(await raw(), 'in the end').to.deep.equal(end);
    });
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
  }

  const given = (...events: readonly Event[]) => {
    /** Rows visible to readers, by `_id`; removed rows must hold nothing else. */
    async function shown(): Promise<ShownRow[]> {
      const history = recorded(events);
      const found = await rebuilt(history);
      await redelivered(history, found);
      for (const row of found) {
        expect(Long.isLong(row._at), 'a position is a Long').to.equal(true);
        if (row.gone) expect(row, 'gone').to.have.all.keys('_id', '_at', 'gone', 'goneAt');
      }
      return found.filter(({ gone }) => !gone).map(({ _at, ...row }): ShownRow => row);
    }
    return {
      rows: shown,
      thenRows: async (...expected: readonly ShownRow[]) => expect(await shown()).to.deep.equal(expected),
      thenNoRows: async () => expect(await shown()).to.deep.equal([]),
    };
  };
  return { given };
}
