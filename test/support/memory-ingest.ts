/** Ingest of log records over an event log in memory, with a clock, and the stored records. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { createGroupCommit } from '../../application/command/group-commit.js';
import { createBudget } from '../../application/concurrency/limiters.js';
import { createIngest } from '../../application/logs/ingest/ingest-records.js';
import type { EventLog, Position } from '../../application/ports/index.js';
import { recordTexts, type SealedBatch } from '../../domain/logs/batch.js';
import { catalog } from '../../domain/logs/catalog.js';
import { bucketSubject } from '../../domain/logs/retention-bucket.js';
import { isRejection, type Rejection } from '../../domain/shared/decider.js';
import { memoryKernel, memoryWorld } from './memory-kernel.js';

export const NOON = Date.UTC(2026, 2, 1, 12);
export const DAY = 86_400_000;

/** Returns an outcome that is not a rejection; throws otherwise. */
export function taken<T extends object>(outcome: T | Rejection): T {
  if (isRejection(outcome)) throw new Error(outcome.rejected);
  return outcome as T;
}

export const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

export const lines = (...records: readonly object[]) => records.map((each) => JSON.stringify(each)).join('\n');

export type MemoryIntake = ReturnType<typeof memoryIntake>;

export function memoryIntake() {
  const world = memoryWorld();
  const kernel = memoryKernel(world, [catalog]);
  const time = { now: NOON };
  const clock = { now: () => time.now };

  /** `visible`: whether the index reflects accepted records in time. */
  function ingestOf(between: Partial<EventLog> = {}, most = 1_000_000, visible = true) {
    const log = { ...kernel.log, ...between };
    const reported: [stream: string, events: number][] = [];
    const appended = (stream: string, _: bigint, events: number) => void reported.push([stream, events]);
    const budget = createBudget('intake', most);
    const waits: [service: string, position: Position][] = [];
    const wait = async (service: string, position: Position) => waits.push([service, position]) > 0 && visible;
    const projectionProgress = { ...kernel.projectionProgress, wait };
    const appender = createGroupCommit({ log, logger: silentLogger, appended });
    const ingest = createIngest({
      log,
      appender,
      vault: kernel.vault,
      aggregates: kernel.aggregates,
      projectionProgress,
      clock,
      release: 'test',
      budget,
      appended,
    });
    return { ...ingest, budget, reported, waits };
  }

  /** The messages of all stored records, in log order. */
  async function stored(streams = [...new Set(world.all.map(({ streamId }) => streamId))]) {
    const found: string[] = [];
    for (const stream of streams) {
      const events = await kernel.log.read(stream);
      for (const { data } of typeof events === 'string' ? [] : events) {
        const secret = await kernel.vault.open(bucketSubject(data as never), (data as unknown as SealedBatch).secret);
        for (const text of recordTexts(secret as never)) found.push(JSON.parse(text).message);
      }
    }
    return found;
  }

  return { world, kernel, time, clock, ingestOf, stored };
}
