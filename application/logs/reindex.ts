/** Rebuilds the record index from the log beside the served one, one at a time, and tells how far it is. */
import type { Rejection } from '../../domain/shared/decider.js';
import type { Clock, Position } from '../ports.js';

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
  readonly newId: () => string;
}

const ELSEWHERE: Rejection = {
  rejected: 'logs/reindex-running',
  kind: 'conflict',
  detail: 'Another process is building the index',
};

interface Started {
  readonly begun: Reindexing;
  readonly done: Promise<ReindexReport | Rejection>;
}

export type Reindex = ReturnType<typeof createReindex>;

export function createReindex(ports: ReindexPorts) {
  const { rebuild, underWay, serving, count, isElsewhere, clock, newId } = ports;
  let current: Reindexing | undefined;

  async function run(begun: Reindexing, exclusive: () => void): Promise<ReindexReport | Rejection> {
    const started = clock.now();
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
      const finished = clock.now();
      const done: ReindexReport = {
        report: {
          mode: 'full',
          recordsInserted,
          recordsSkipped: Math.max(0, before - recordsInserted),
          parseErrors: 0,
          startedAt: begun.startedAt,
          finishedAt: new Date(finished).toISOString(),
          durationMs: finished - started,
        },
        reset: { entriesDeleted: before },
      };
      tell({ state: 'done', ...done });
      return done;
    } catch (error) {
      if (isElsewhere(error)) return ELSEWHERE;
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

    /** Undefined while one is running, here or elsewhere. */
    async start(): Promise<Started | undefined> {
      if (current?.state === 'running') return undefined;
      const last = current;
      const startedAt = new Date(clock.now()).toISOString();
      const begun: Reindexing = {
        id: newId(),
        state: 'running',
        startedAt,
        events: 0,
        position: '0',
        until: '0',
      };
      current = begun;
      let exclusive = () => {};
      const begins = new Promise<void>((resolve) => {
        exclusive = resolve;
      });
      const done = run(begun, exclusive);
      if ((await Promise.race([begins, done])) === ELSEWHERE) {
        current = last;
        return undefined;
      }
      return { begun, done };
    },
  };
}
