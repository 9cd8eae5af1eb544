/** Load, decide, append; decide again on a conflict. The road every command of every service takes. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Sealed } from '../domain/shared/catalog.js';
import { type DomainEvent, evolveOf, isRejection, type Rejection } from '../domain/shared/decider.js';
import { createLine } from './line.js';
import { factSeed, newEvent } from './new-event.js';
import {
  type AppendOutcome,
  type CommandContext,
  type EventLog,
  type Log,
  type Position,
  type RecordedEvent,
  Unavailable,
} from './ports.js';
import { misusedKey } from './repetition.js';
import { type Aggregate, type KeyedCommand, type Loaded, noteCommand, type Streams } from './streams.js';
import { RETRY_MS } from './within.js';

export interface Handled<State, Event extends DomainEvent = DomainEvent> {
  /**
   * What the command wrote; nothing where it was already so. Where it ran before, secrets may be erased since; those
   * of a blind kind are sealed then.
   */
  readonly events: readonly (Event | Sealed<Event>)[];
  /** The state just after the command: for a repeated one as it was then, read from the log when it is asked for. */
  readonly state: () => Promise<State>;
  readonly position: Position;
  /** An earlier run of the same command did it; nothing was written now. */
  readonly repeated: boolean;
}

/**
 * Runs a command on a stream. Resolves when its events are flushed, or with the reason why not. Rejects with
 * `Unavailable` when the log is away or the stream too busy, for 10 attempts or for the many who wait: it may then have
 * been done or not, and the same command (same `commandId`) may be sent again.
 *
 * `before` is run once, just before the first append: never for a repetition, a refusal, or what is already so. What
 * must be there first is made in it, and what is counted is counted in it; it may refuse.
 */
export type Handle = <S, C, E extends DomainEvent>(
  kind: Aggregate<S, C, E>,
  stream: string,
  command: C,
  context: CommandContext,
  before?: () => Promise<Rejection | undefined>,
) => Promise<Handled<S, E> | Rejection>;

const ATTEMPTS = 10;

export interface HandleOptions {
  readonly log: EventLog;
  readonly streams: Streams;
  readonly release: string;
  readonly logger: Log;
  /** Told of every append, found or made, before the command is answered. */
  readonly appended: (stream: string, position: Position, events: number) => void;
  readonly conflicted: (stream: string) => void;
}

/** One run of a command, over all its attempts. */
interface Run<S, C, E extends DomainEvent> {
  readonly kind: Aggregate<S, C, E>;
  readonly stream: string;
  readonly command: C;
  readonly context: CommandContext;
  before: (() => Promise<Rejection | undefined>) | undefined;
  /** Where the stream was at the first attempt: an append of this run that was lost can only be after it. */
  begun: number | undefined;
}

export function createHandle({ log, streams, release, logger, appended, conflicted }: HandleOptions): Handle {
  const inLine = createLine();

  return (kind, stream, command, context, before) =>
    inLine(stream, () => attempt({ kind, stream, command, context, before, begun: undefined }));

  async function attempt<S, C, E extends DomainEvent>(run: Run<S, C, E>): Promise<Handled<S, E> | Rejection> {
    const { stream } = run;
    const until = performance.now() + RETRY_MS;
    for (let tried = 0; tried < ATTEMPTS; tried++) {
      if (tried > 0) await delay(Math.random() * 5 * 2 ** tried);
      try {
        const outcome = await attemptOnce(run, tried > 0);
        if (outcome !== 'conflict') return outcome;
        conflicted(stream);
      } catch (error) {
        // The append may have been taken all the same: read what is there, never append blindly.
        if (!(error instanceof Unavailable) || performance.now() > until) throw error;
        logger.warn({ err: error, stream, tried }, 'the log did not answer, trying again');
      }
    }
    throw new Unavailable(`${stream} is too busy`);
  }

  async function attemptOnce<S, C, E extends DomainEvent>(
    run: Run<S, C, E>,
    fresh: boolean,
  ): Promise<Handled<S, E> | Rejection | 'conflict'> {
    const { kind, stream, command, context } = run;
    const mine: RecordedEvent[] = [];
    const found = (event: RecordedEvent) => {
      if (event.metadata.commandId === context.commandId) mine.push(event);
    };
    const loaded = fresh
      ? await streams.refresh(kind, stream, { found, after: run.begun })
      : await streams.load(kind, stream);
    run.begun ??= loaded.revision;
    const [first, last] = [mine[0], mine.at(-1)];
    const earlier =
      first && last ? { first: first.revision, last: last.revision } : loaded.keyed.get(context.commandId);
    if (earlier) return again(kind, stream, context, earlier);
    if (loaded.deleted) return deleted(kind);
    const decided = kind.decider.decide(command, loaded.state);
    // An append is guarded by its expected revision; what appends nothing must not rest on what another node changed.
    const unguarded = isRejection(decided) || decided.length === 0;
    if (unguarded && !fresh) return attemptOnce(run, true);
    if (isRejection(decided)) return decided;
    if (decided.length === 0) return handled(loaded.state, loaded.position, []);
    const refusal = await run.before?.();
    if (refusal) return refusal;
    run.before = undefined;
    return append(run, loaded, decided);
  }

  async function append<S, C, E extends DomainEvent>(
    { kind, stream, context }: Run<S, C, E>,
    loaded: Loaded<S>,
    decided: readonly E[],
  ): Promise<Handled<S, E> | Rejection | 'conflict'> {
    const origin = { service: kind.catalog.service, release };
    const events = decided.map((event, index) =>
      newEvent(origin, stream, event, index, context, factSeed(event, context)),
    );
    const expected = loaded.revision < 0 ? 'none' : loaded.revision;
    const result: AppendOutcome = await log.append(stream, expected, events);
    if (result.outcome === 'conflict') return 'conflict';
    if (result.outcome === 'deleted') return deleted(kind);
    const state = decided.reduce(evolveOf<S, E>(kind.decider), loaded.state);
    const { revision, position } = result;
    noteCommand(kind, loaded.keyed, context, { first: revision - events.length + 1, last: revision });
    streams.remember(stream, { ...loaded, state, revision, position });
    appended(stream, position, events.length);
    return handled(state, position, decided);
  }

  async function again<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    context: CommandContext,
    earlier: KeyedCommand,
  ): Promise<Handled<S, E> | Rejection> {
    const events = await streams.written(kind, stream, earlier);
    const last = events.at(-1);
    if (!last) return deleted(kind);
    if (context.fingerprint && last.metadata.fingerprint !== context.fingerprint) {
      return misusedKey(kind.catalog.service);
    }
    // It may be this run's own append whose answer was lost: what is told now must be seen by who reads next.
    appended(stream, last.position, 0);
    const state = async () => (await streams.asOf(kind, stream, earlier.last)).state;
    return { events, state, position: last.position, repeated: true };
  }
}

const handled = <S, E extends DomainEvent>(
  state: S,
  position: Position,
  events: readonly E[],
): Handled<S, E> => ({ events, state: async () => state, position, repeated: false });

const deleted = ({ catalog }: { catalog: { service: string } }): Rejection => ({
  rejected: `${catalog.service}/gone`,
  kind: 'not-found',
});
