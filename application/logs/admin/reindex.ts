/**
 * Rebuilds the record index beside the served one, one rebuild at a time, and reports progress. Start and result are
 * recorded in the log, so that a repeated request finds them.
 */
import { catalog } from '../../../domain/logs/catalog.js';
import { type ReindexResult, rebuild as rebuildDecider, rebuildStream } from '../../../domain/logs/reindex-job.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import type { KernelPorts } from '../../command/index.js';
import type { CommandContext, Position } from '../../ports/index.js';

export type ReindexReport = ReturnType<typeof reportOf>;

export interface ReindexProgress {
  readonly id: string;
  readonly state: 'running' | 'done' | 'failed';
  readonly startedAt: string;
  readonly events: number;
  /** Log position the build has reached, and the target position. */
  readonly position: string;
  readonly until: string;
  readonly error?: string;
  readonly report?: ReindexReport['report'];
  readonly reset?: ReindexReport['reset'];
}

export interface ReindexPorts extends Pick<KernelPorts, 'clock' | 'handle' | 'aggregates' | 'derivation' | 'context'> {
  /** Rebuilds and switches; resolves with the new build's name. Calls `begun` once it holds the lock. */
  readonly rebuild: (
    job: () => void,
    report: (events: number, position: Position, until: Position) => void,
  ) => Promise<string>;
  readonly underWay: () => Promise<{ readonly position: Position; readonly until: Position } | undefined>;
  readonly serving: (build: string) => Promise<void>;
  readonly count: () => Promise<number>;
  readonly isElsewhere: (error: unknown) => boolean;
}

export interface StartedReindex {
  readonly id: string;
  readonly position: Position;
  readonly done: Promise<{ readonly report: ReindexReport; readonly position: Position } | Rejection>;
}

const kind = { catalog, decider: rebuildDecider };

export const RUNNING: Rejection = {
  rejected: 'logs/reindex-running',
  kind: 'conflict',
  detail: 'A reindex is running',
};

export type Reindex = ReturnType<typeof createReindex>;

export function createReindex(ports: ReindexPorts) {
  const { rebuild, underWay, serving, count, isElsewhere } = ports;
  const { clock, handle, aggregates, derivation, context } = ports;
  let current: ReindexProgress | undefined;
  let done: StartedReindex['done'] | undefined;

  async function run(job: ReindexProgress, exclusive: () => void): StartedReindex['done'] {
    const startedAt = Date.parse(job.startedAt);
    const update = (changes: Partial<ReindexProgress>) => {
      current = { ...(current ?? job), ...changes };
    };
    try {
      const before = await count();
      const build = await rebuild(exclusive, (events, position, until) =>
        update({ events, position: String(position), until: String(until) }),
      );
      await serving(build);
      const recordsInserted = await count();
      const rebuilt: ReindexResult = {
        startedAt,
        finishedAt: Math.max(startedAt, clock.now()),
        recordsInserted,
        recordsSkipped: Math.max(0, before - recordsInserted),
        entriesDeleted: before,
      };
      const finish = { type: 'FinishRebuild' as const, id: job.id, ...rebuilt };
      const recorded = await handle(kind, rebuildStream(job.id), finish, context('logs.reindex'));
      if (isRejection(recorded)) throw new Error(recorded.rejected);
      const report = reportOf(rebuilt);
      update({ state: 'done', ...report });
      return { report, position: recorded.position };
    } catch (error) {
      if (isElsewhere(error)) return RUNNING;
      update({ state: 'failed', error: 'The rebuild failed; start it again' });
      throw error;
    }
  }

  return {
    /** Progress of the build running here, else in another process, else of the last one here. */
    async progress(): Promise<Partial<ReindexProgress> | undefined> {
      if (current?.state === 'running') return current;
      const other = await underWay();
      if (!other) return current;
      const { position, until } = other;
      return { state: 'running', position: String(position), until: String(until) };
    },

    /** Rejected while another rebuild runs. A repeated command gets the first run's result, from any process. */
    async start(command: CommandContext): Promise<StartedReindex | Rejection> {
      const id = derivation.id('logs.reindex', command.commandId);
      const startedAt = clock.now();
      const previous = current;
      const job: ReindexProgress = {
        id,
        state: 'running',
        startedAt: new Date(startedAt).toISOString(),
        events: 0,
        position: '0',
        until: '0',
      };
      const begin = async () => {
        if (current?.state === 'running') return RUNNING;
        current = job;
        return (await underWay()) ? RUNNING : undefined;
      };
      let position: Position;
      try {
        const intention = { type: 'BeginRebuild' as const, id, startedAt };
        const outcome = await handle(kind, rebuildStream(id), intention, command, begin);
        if (isRejection(outcome)) {
          if (current === job) current = previous;
          return outcome;
        }
        ({ position } = outcome);
        if (outcome.repeated && current !== job) {
          if (current?.id === id && current.state !== 'failed' && done) return { id, position, done };
          const { state, position: recorded } = await aggregates.reload(kind, rebuildStream(id));
          if (state.rebuilt) {
            const finished = { report: reportOf(state.rebuilt), position: recorded };
            return { id, position, done: Promise.resolve(finished) };
          }
          // The process that started it never finished.
          const refusal = await begin();
          if (refusal) {
            if (current === job) current = previous;
            return refusal;
          }
        }
      } catch (error) {
        if (current === job) current = previous;
        throw error;
      }
      let exclusive = () => {};
      const lockAcquired = new Promise<void>((resolve) => {
        exclusive = resolve;
      });
      const running = run(job, exclusive);
      done = running;
      if ((await Promise.race([lockAcquired, running])) === RUNNING) {
        current = previous;
        return RUNNING;
      }
      return { id, position, done: running };
    },
  };
}

const reportOf = ({ startedAt, finishedAt, recordsInserted, recordsSkipped, entriesDeleted }: ReindexResult) => ({
  report: {
    mode: 'full' as const,
    recordsInserted,
    /** Records of the old index that are not in the new one: expired or erased meanwhile. */
    recordsSkipped,
    /** The log holds parsed records only. */
    parseErrors: 0 as const,
    startedAt: new Date(startedAt).toISOString(),
    finishedAt: new Date(finishedAt).toISOString(),
    durationMs: finishedAt - startedAt,
  },
  reset: { entriesDeleted },
});
