/** Lets go what need not be kept: states it as a fact, and makes it unreadable wherever it still lies. */
import { catalog, type LogsEvent } from '../../../domain/logs/catalog.js';
import { type ExpireRecords, RETENTION_STREAM, retention } from '../../../domain/logs/retention.js';
import { bucketSubject, type RetentionBucket, streamsOf } from '../../../domain/logs/retention-bucket.js';
import { DAY_MS, dayName, startOfDay } from '../../../domain/logs/timestamp.js';
import { isRejection } from '../../../domain/shared/index.js';
import type { HandleCommand } from '../../command/index.js';
import type { CommandContext, ConfirmedClock, EventLog, RecordedEvent, Vault } from '../../ports/index.js';
import type { Reaction } from '../../subscription/index.js';

export interface RetentionPorts {
  readonly handle: HandleCommand;
  readonly clock: ConfirmedClock;
  readonly days: number;
  readonly auditDays: number;
  /** Keepings that the index knows, received before a day. */
  readonly receivedBefore: (day: string, audit: boolean) => Promise<readonly RetentionBucket[]>;
  readonly context: (actor: string) => CommandContext;
}

/** Each day may add thousands of keepings that end. */
export const retentionKind = {
  catalog,
  decider: retention,
  isSnapshotEvent: ({ type }: RecordedEvent) => type === 'RecordsExpired',
};

/** Keepings that end with one append: files that are watched are a producer each, and there may be thousands of a day. */
const TOLD_AT_ONCE = 250;

/**
 * Whole days: a record is kept for at least so many days after its instant. That records have expired is told last:
 * from then on the index knows no more whose they were.
 */
export const createRetention =
  ({ handle, clock, days, auditDays, receivedBefore, context }: RetentionPorts) =>
  async (): Promise<void> => {
    const now = await clock.confirmedNow();
    if (now === undefined) return;
    const cutoff = (kept: number) => Math.max(0, startOfDay(now - kept * DAY_MS));
    const [before, auditBefore] = [cutoff(days), cutoff(auditDays)];
    const ended = await Promise.all([
      receivedBefore(dayName(before), false),
      receivedBefore(dayName(auditBefore), true),
    ]);
    const tell = async (type: ExpireRecords['type'], some: readonly RetentionBucket[]) => {
      const command = { type, before, auditBefore, ended: some };
      const outcome = await handle(retentionKind, RETENTION_STREAM, command, context('logs.retention'));
      if (isRejection(outcome)) throw new Error(outcome.rejected);
    };
    const all = ended.flat();
    while (all.length > TOLD_AT_ONCE) await tell('EraseBatches', all.splice(0, TOLD_AT_ONCE));
    await tell('ExpireRecords', all);
  };

export interface EraseDeps {
  readonly vault: Vault;
  readonly log: EventLog;
  /** The streams of a keeping that hold one request each. */
  readonly requestStreams: (keeping: RetentionBucket) => AsyncIterable<string>;
}

/** Streams that are ended side by side: one by one, those of a busy producer's day would take a store minutes. */
const ENDED_AT_ONCE = 32;

/** What has expired is destroyed in the log, too: first its key, then its streams. */
export const eraseReaction = ({ vault, log, requestStreams }: EraseDeps): Reaction<LogsEvent<'BatchesErased'>> => ({
  name: 'logs.erase',
  retryInBackground: true,
  on: {
    async BatchesErased({ data: keeping }) {
      await vault.destroy(bucketSubject(keeping));
      for (const stream of streamsOf(keeping)) {
        const found = await log.read(stream, { limit: 1 });
        if (typeof found !== 'string') await log.tombstone(stream);
      }
      let some: string[] = [];
      const endAll = async () => {
        await Promise.all(some.map((stream) => log.tombstone(stream)));
        some = [];
      };
      for await (const stream of requestStreams(keeping)) {
        some.push(stream);
        if (some.length === ENDED_AT_ONCE) await endAll();
      }
      await endAll();
    },
  },
});
