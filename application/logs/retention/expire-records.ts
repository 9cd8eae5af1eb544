/** Expires old records: appends the fact, then destroys their keys and streams. */
import { catalog, type LogsEvent } from '../../../domain/logs/catalog.js';
import { type ExpireRecords, RETENTION_STREAM, retention } from '../../../domain/logs/retention.js';
import { batchStreams, bucketSubject, type RetentionBucket } from '../../../domain/logs/retention-bucket.js';
import { DAY_MS, dayName, startOfDay } from '../../../domain/logs/timestamp.js';
import { isRejection } from '../../../domain/shared/index.js';
import type { KernelPorts } from '../../command/index.js';
import type { ConfirmedClock, EventLog, RecordedEvent, Vault } from '../../ports/index.js';
import type { Reaction } from '../../subscription/index.js';

export interface RetentionPorts extends Pick<KernelPorts, 'handle' | 'context'> {
  readonly clock: ConfirmedClock;
  readonly days: number;
  readonly auditDays: number;
  readonly receivedBefore: (day: string, audit: boolean) => Promise<readonly RetentionBucket[]>;
}

/** Thousands of buckets may expire each day, so the cutoff event serves as snapshot. */
export const retentionAggregate = {
  catalog,
  decider: retention,
  isSnapshotEvent: ({ type }: RecordedEvent) => type === 'RecordsExpired',
};

/** Buckets erased per append: each watched file is a producer, so there may be thousands a day. */
const ERASURE_BATCH = 250;

/**
 * Expires whole days, so a record is retained at least the configured days after its time. Appends the erasures before
 * `RecordsExpired`, because the index drops its buckets on that event.
 */
export const createRetention =
  ({ handle, clock, days, auditDays, receivedBefore, context }: RetentionPorts) =>
  async (): Promise<void> => {
    const now = await clock.confirmedNow();
    if (now === undefined) return;
    const cutoff = (retentionDays: number) => Math.max(0, startOfDay(now - retentionDays * DAY_MS));
    const [before, auditBefore] = [cutoff(days), cutoff(auditDays)];
    const ended = await Promise.all([
      receivedBefore(dayName(before), false),
      receivedBefore(dayName(auditBefore), true),
    ]);
    const append = async (type: ExpireRecords['type'], batch: readonly RetentionBucket[]) => {
      const command = { type, before, auditBefore, ended: batch };
      const outcome = await handle(retentionAggregate, RETENTION_STREAM, command, context('logs.retention'));
      if (isRejection(outcome)) throw new Error(outcome.rejected);
    };
    const remaining = ended.flat();
    while (remaining.length > ERASURE_BATCH) await append('EraseBatches', remaining.splice(0, ERASURE_BATCH));
    await append('ExpireRecords', remaining);
  };

export interface EraseDeps {
  readonly vault: Vault;
  readonly log: EventLog;
  readonly requestStreams: (bucket: RetentionBucket) => AsyncIterable<string>;
}

/** Streams deleted concurrently: one by one, a busy producer's day would take minutes. */
const MAX_CONCURRENT_TOMBSTONES = 32;

/** Erases an expired bucket in the log: first its key, then its streams. */
export const eraseReaction = ({ vault, log, requestStreams }: EraseDeps): Reaction<LogsEvent<'BatchesErased'>> => ({
  name: 'logs.erase',
  retryInBackground: true,
  on: {
    async BatchesErased({ data: bucket }) {
      await vault.destroy(bucketSubject(bucket));
      for (const stream of batchStreams(bucket)) {
        const found = await log.read(stream, { limit: 1 });
        if (typeof found !== 'string') await log.tombstone(stream);
      }
      let batch: string[] = [];
      const tombstoneBatch = async () => {
        await Promise.all(batch.map((stream) => log.tombstone(stream)));
        batch = [];
      };
      for await (const stream of requestStreams(bucket)) {
        batch.push(stream);
        if (batch.length === MAX_CONCURRENT_TOMBSTONES) await tombstoneBatch();
      }
      await tombstoneBatch();
    },
  },
});
