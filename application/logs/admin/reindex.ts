/**
 * Rebuilds the record index from the log beside the served one, one at a time, and tells how far it is. That it was
 * begun and what came of it stands in the log, so that the same request again finds it.
 */
import { catalog } from '../../../domain/logs/catalog.js';
import { type Rebuilt, rebuild as rebuildDecider, rebuildStream } from '../../../domain/logs/reindex-job.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import type { AggregateStore, HandleCommand } from '../../command/index.js';
import type { Clock, CommandContext, Derivation, Position } from '../../ports/index.js';

export interface ReindexReport {
  readonly report: {
    readonly mode: 'full';
    readonly recordsInserted: number;
    /** Were in the index before and are not any more: expired or erased meanwhile. */
    readonly recordsSkipped: number;
    /** The log holds only what was parsed. */
    readonly parseErrors: 0;
    readonly startedAt: string;
    readonly finishedAt: string;
    readonly durationMs: number;
  };
  readonly reset: { readonly entriesDeleted: number };
}

export interface Reindexing {
  readonly id: string;
  readonly state: 'running' | 'done' | 'failed';
  readonly startedAt: string;
  readonly events: number;
  /** How far the build is, and how far the log is. */
  readonly position: string;
  readonly until: string;
  readonly error?: string;
  readonly report?: ReindexReport['report'];
  readonly reset?: ReindexReport['reset'];
}

/** What can be told of a build that another process makes. */
export type ReindexingElsewhere = Pick<Reindexing, 'state' | 'position' | 'until'>;

export interface ReindexPorts {
  /** Builds anew and switches; resolves with the new build's name. `begun`: nobody else can build now. */
  readonly rebuild: (
    begun: () => void,
    told: (events: number, position: Position, until: Position) => void,
  ) => Promise<string>;
  /** How far the build is that some process makes now. */
  readonly underWay: () => Promise<{ readonly position: Position; readonly until: Position } | undefined>;
  /** Resolves when this node serves the build. */
  readonly serving: (build: string) => Promise<void>;
  /** How many records the served build holds. */
  readonly count: () => Promise<number>;
  /** Whether an error says that another process is at it. */
  readonly isElsewhere: (error: unknown) => boolean;
  readonly clock: Clock;
  readonly handle: HandleCommand;
  readonly streams: AggregateStore;
  readonly derivation: Derivation;
  /** For what the program itself notes. */
  readonly context: (actor: string) => CommandContext;
}

export interface Finished {
  readonly told: ReindexReport;
  /** Where the log says what came of it. */
  readonly position: Position;
}

export interface Started {
  readonly id: string;
  /** Where the log says that it was begun. */
  readonly position: Position;
  /** Rejects when the build fails. */
  readonly done: Promise<Finished | Rejection>;
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
  const { clock, handle, streams, derivation, context } = ports;
  let current: Reindexing | undefined;
  let done: Started['done'] | undefined;

  async function run(begun: Reindexing, exclusive: () => void): Promise<Finished | Rejection> {
    const startedAt = Date.parse(begun.startedAt);
    const tell = (news: Partial<Reindexing>) => {
      current = { ...(current ?? begun), ...news };
    };
    try {
      const before = await count();
      const build = await rebuild(exclusive, (events, position, until) =>
        tell({ events, position: String(position), until: String(until) }),
      );
      await serving(build);
      const recordsInserted = await count();
      const rebuilt: Rebuilt = {
        startedAt,
        finishedAt: Math.max(startedAt, clock.now()),
        recordsInserted,
        recordsSkipped: Math.max(0, before - recordsInserted),
        entriesDeleted: before,
      };
      const finish = { type: 'FinishRebuild' as const, id: begun.id, ...rebuilt };
      const noted = await handle(kind, rebuildStream(begun.id), finish, context('logs.reindex'));
      if (isRejection(noted)) throw new Error(noted.rejected);
      const told = reportOf(rebuilt);
      tell({ state: 'done', ...told });
      return { told, position: noted.position };
    } catch (error) {
      if (isElsewhere(error)) return RUNNING;
      tell({ state: 'failed', error: 'The build failed; it can be begun again' });
      throw error;
    }
  }

  return {
    /** Of the one that runs here, else of one that runs in another process, else of the last one here. */
    async progress(): Promise<Reindexing | ReindexingElsewhere | undefined> {
      if (current?.state === 'running') return current;
      const elsewhere = await underWay();
      if (!elsewhere) return current;
      const { position, until } = elsewhere;
      return { state: 'running', position: String(position), until: String(until) };
    },

    /** Refused while another one is running. The same command again is told of its first run, wherever that was. */
    async start(command: CommandContext): Promise<Started | Rejection> {
      const id = derivation.id('logs.reindex', command.commandId);
      const startedAt = clock.now();
      const previous = current;
      const begun: Reindexing = {
        id,
        state: 'running',
        startedAt: new Date(startedAt).toISOString(),
        events: 0,
        position: '0',
        until: '0',
      };
      const begin = async () => {
        if (current?.state === 'running') return RUNNING;
        current = begun;
        return (await underWay()) ? RUNNING : undefined;
      };
      let position: Position;
      try {
        const intention = { type: 'BeginRebuild' as const, id, startedAt };
        const outcome = await handle(kind, rebuildStream(id), intention, command, begin);
        if (isRejection(outcome)) {
          if (current === begun) current = previous;
          return outcome;
        }
        ({ position } = outcome);
        if (outcome.repeated && current !== begun) {
          if (current?.id === id && current.state !== 'failed' && done) return { id, position, done };
          const { state, position: noted } = await streams.reload(kind, rebuildStream(id));
          if (state.rebuilt) {
            const finished = { told: reportOf(state.rebuilt), position: noted };
            return { id, position, done: Promise.resolve(finished) };
          }
          // Whoever began it never finished.
          const refusal = await begin();
          if (refusal) {
            if (current === begun) current = previous;
            return refusal;
          }
        }
      } catch (error) {
        if (current === begun) current = previous;
        throw error;
      }
      let exclusive = () => {};
      const begins = new Promise<void>((resolve) => {
        exclusive = resolve;
      });
      const running = run(begun, exclusive);
      done = running;
      // Another process may have been quicker since it was asked for.
      if ((await Promise.race([begins, running])) === RUNNING) {
        current = previous;
        return RUNNING;
      }
      return { id, position, done: running };
    },
  };
}

const reportOf = ({
  startedAt,
  finishedAt,
  recordsInserted,
  recordsSkipped,
  entriesDeleted,
}: Rebuilt): ReindexReport => ({
  report: {
    mode: 'full',
    recordsInserted,
    recordsSkipped,
    parseErrors: 0,
    startedAt: new Date(startedAt).toISOString(),
    finishedAt: new Date(finishedAt).toISOString(),
    durationMs: finishedAt - startedAt,
  },
  reset: { entriesDeleted },
});
