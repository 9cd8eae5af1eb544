/** Commands that come again with their `Idempotency-Key`: found in the log, and answered as their first run was. */
import type { DomainEvent, Rejection, Sealed } from '../../domain/shared/index.js';
import type { Clock, CommandContext, Position } from '../ports/index.js';
import type { Aggregate, AggregateStore } from './aggregate-store.js';
import type { CommandRange } from './idempotency-index.js';

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

export interface RepetitionOptions {
  readonly streams: AggregateStore;
  /** As the subjects of streams end by it. */
  readonly clock: Clock;
  /** Told of what was found, before the command is answered. */
  readonly appended: (stream: string, position: Position, events: number) => void;
}

export interface Idempotency {
  /**
   * What is told of a command that stands in its stream. With another request than the first it is a misuse of the key.
   * Of a subject that has ended since, everybody is told the same; but what ended it itself is told as the first time.
   */
  replayResult<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    context: CommandContext,
    earlier: CommandRange,
  ): Promise<Handled<S, E> | Rejection>;

  /** The same of a command that may have run; undefined if it never did, or had no key. Writes nothing. */
  findResult<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    context: CommandContext,
  ): Promise<Handled<S, E> | Rejection | undefined>;
}

export function createRepetition({ streams, clock, appended }: RepetitionOptions): Idempotency {
  const replayResult: Idempotency['replayResult'] = async (kind, stream, context, earlier) => {
    const events = await streams.eventsOfCommand(kind, stream, earlier);
    const last = events.at(-1);
    if (!last) return goneRejection(kind);
    if (context.fingerprint && last.metadata.fingerprint !== context.fingerprint) {
      return keyReused(kind.catalog.service);
    }
    const state = async () => (await streams.asOf(kind, stream, earlier.last)).state;
    if ((await hasEnded(kind, stream)) && !kind.termination?.byEvent?.(await state())) return goneRejection(kind);
    // It may be this run's own append whose answer was lost: what is told now must be seen by who reads next.
    appended(stream, last.position, 0);
    return { events, state, position: last.position, repeated: true };
  };

  /** As the log has it: another node may have ended it a moment ago. */
  async function hasEnded<S, C, E extends DomainEvent>(kind: Aggregate<S, C, E>, stream: string) {
    const { byEvent, at } = kind.termination ?? {};
    if (!byEvent && !at) return false;
    const { state } = await streams.reload(kind, stream);
    return byEvent?.(state) || (at !== undefined && clock.now() >= at(state));
  }

  return {
    replayResult,
    async findResult(kind, stream, context) {
      const { commandId } = context;
      const look = async () => streams.withIdempotencyIndex(kind, stream, await streams.reload(kind, stream));
      const seen = streams.cached(kind, stream)?.keyed.get(commandId) ?? (await look()).keyed.get(commandId);
      return seen && replayResult(kind, stream, context, seen);
    },
  };
}

/** What is told of a stream that was ended, or of its subject. */
export const goneRejection = ({
  catalog,
  termination,
}: Pick<Aggregate<never, never, never>, 'catalog' | 'termination'>): Rejection =>
  termination?.rejection ?? { rejected: `${catalog.service}/gone`, kind: 'gone' };

/** The key came before, with another request (docs/guide/commands.md). */
export const keyReused = (service: string): Rejection => ({
  rejected: `${service}/idempotency-key-reused`,
  kind: 'misused-key',
  detail: 'This Idempotency-Key was used before with another request',
});
