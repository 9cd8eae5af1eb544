/** Load, decide, append; decide again on a conflict. The road every command of every service takes. */
import { setTimeout as delay } from 'node:timers/promises';
import { type DomainEvent, isRejection, type Rejection } from '../domain/shared/decider.js';
import { newEvent } from './new-event.js';
import {
  type AppendOutcome,
  type CommandContext,
  type EventLog,
  type Log,
  type Position,
  type RecordedEvent,
  Unavailable,
} from './ports.js';
import type { Aggregate, KeyedCommand, Loaded, Streams } from './streams.js';

export interface Handled<State> {
  /** The state just after the command: for a repeated one, as it was then. */
  readonly state: State;
  readonly position: Position;
  /** An earlier run of the same command did it; nothing was written now. */
  readonly repeated: boolean;
}

/**
 * Runs a command on a stream. Resolves when its events are flushed, or with the reason why not. Rejects with
 * `Unavailable` when the log is away or the stream too busy for 10 attempts: it may then have been done or not,
 * and the same command (same `commandId`) may be sent again.
 */
export type Handle = <S, C, E extends DomainEvent>(
  kind: Aggregate<S, C, E>,
  stream: string,
  command: C,
  context: CommandContext,
) => Promise<Handled<S> | Rejection>;

const ATTEMPTS = 10;
const DEADLINE_MS = 8000;
export interface HandleOptions {
  readonly log: EventLog;
  readonly streams: Streams;
  readonly release: string;
  readonly logger: Log;
  /** Told of every append, before the command is answered. */
  readonly appended: (stream: string, position: Position, events: number) => void;
  readonly conflicted: (stream: string) => void;
}

export function createHandle({ log, streams, release, logger, appended, conflicted }: HandleOptions): Handle {
  const inLine = createLine();

  return (kind, stream, command, context) => inLine(stream, () => attempt(kind, stream, command, context));

  async function attempt<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    command: C,
    context: CommandContext,
  ): Promise<Handled<S> | Rejection> {
    const deadline = Date.now() + DEADLINE_MS;
    for (let tried = 0; tried < ATTEMPTS; tried++) {
      if (tried > 0) await delay(Math.random() * 5 * 2 ** tried);
      try {
        const outcome = await attemptOnce(kind, stream, command, context, tried > 0);
        if (outcome !== 'conflict') return outcome;
        conflicted(stream);
      } catch (error) {
        // The append may have been taken all the same: read what is there, never append blindly.
        if (!(error instanceof Unavailable) || Date.now() > deadline) throw error;
        logger.warn({ err: error, stream, tried }, 'the log did not answer, trying again');
      }
    }
    throw new Unavailable(`${stream} is too busy`);
  }

  async function attemptOnce<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    command: C,
    context: CommandContext,
    fresh: boolean,
  ): Promise<Handled<S> | Rejection | 'conflict'> {
    let mine: RecordedEvent | undefined;
    const found = (event: RecordedEvent) => {
      if (event.metadata.commandId === context.commandId) mine = event;
    };
    const loaded = fresh ? await streams.refresh(kind, stream, found) : await streams.load(kind, stream);
    const earlier = mine && { fingerprint: context.fingerprint ?? '', revision: mine.revision };
    const repeated = earlier ?? loaded.keyed.get(context.commandId);
    if (repeated) return again(kind, stream, context, repeated);
    if (loaded.deleted) return deleted(kind);
    const decided = kind.decider.decide(command, loaded.state);
    // An append is guarded by its expected revision; what appends nothing must not rest on what another node changed.
    const unguarded = isRejection(decided) || decided.length === 0;
    if (unguarded && !fresh) return attemptOnce(kind, stream, command, context, true);
    if (isRejection(decided)) return decided;
    if (decided.length === 0) return { state: loaded.state, position: loaded.position, repeated: false };
    const origin = { service: kind.catalog.service, release };
    const events = decided.map((event, index) => newEvent(origin, stream, event, index, context));
    const expected = loaded.revision < 0 ? 'none' : loaded.revision;
    const result: AppendOutcome = await log.append(stream, expected, events);
    if (result.outcome === 'conflict') return 'conflict';
    if (result.outcome === 'deleted') return deleted(kind);
    const state = decided.reduce(kind.decider.evolve, loaded.state);
    const { revision, position } = result;
    streams.remember(stream, {
      ...loaded,
      state,
      revision,
      position,
      keyed: withCommand(loaded, context, revision),
    });
    appended(stream, position, events.length);
    return { state, position, repeated: false };
  }

  async function again<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    context: CommandContext,
    earlier: KeyedCommand,
  ): Promise<Handled<S> | Rejection> {
    if (context.fingerprint && earlier.fingerprint !== context.fingerprint) {
      return {
        rejected: `${kind.catalog.service}/idempotency-key-reused`,
        kind: 'conflict',
        detail: 'This Idempotency-Key was used before with another request',
      };
    }
    const { loaded } = await streams.asOf(kind, stream, earlier.revision);
    return { state: loaded.state, position: loaded.position, repeated: true };
  }
}

const deleted = ({ catalog }: { catalog: { service: string } }): Rejection => ({
  rejected: `${catalog.service}/gone`,
  kind: 'not-found',
});

const withCommand = (
  { keyed }: Loaded<unknown>,
  { commandId, fingerprint }: CommandContext,
  revision: number,
) => (fingerprint ? new Map(keyed).set(commandId, { fingerprint, revision }) : keyed);

/** Commands of one process on one stream go one after the other: they would only conflict. */
function createLine() {
  const lines = new Map<string, Promise<unknown>>();
  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const before = lines.get(key);
    const mine = (before ?? Promise.resolve()).then(work, work);
    const settled = mine.then(
      () => {},
      () => {},
    );
    lines.set(key, settled);
    settled.then(() => lines.get(key) === settled && lines.delete(key));
    return mine;
  };
}
