/** Idempotent receiver: finds earlier runs of a command in the log and returns their result. */
import { type DomainEvent, type Rejection, rejection } from '../../domain/shared/index.js';
import type { Clock, CommandContext, Position } from '../ports/index.js';
import type { Aggregate, AggregateStore, CommandRange } from './aggregate.js';

export interface Handled<State, Event extends DomainEvent = DomainEvent> {
  /** Events of the command; none if nothing had to change. For a repetition, secrets may have been erased since. */
  readonly events: readonly Event[];
  /** Returns the state just after the command; for a repetition it is read from the log when called. */
  readonly state: () => Promise<State>;
  readonly position: Position;
  /** The command ran before; nothing was written now. */
  readonly repeated: boolean;
}

export interface IdempotencyOptions {
  readonly aggregates: AggregateStore;
  /** Decides whether a subject has expired. */
  readonly clock: Clock;
  /** Called with the position of a repeated command, before it resolves. */
  readonly appended: (stream: string, position: Position, events: number) => void;
}

export type Idempotency = ReturnType<typeof createIdempotency>;

export function createIdempotency({ aggregates, clock, appended }: IdempotencyOptions) {
  /**
   * Returns the result of a command that is in its stream already; rejects a key that was used for another request.
   * Once the subject has ended, returns its rejection, except to the command that ended it.
   */
  async function replayResult<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    context: CommandContext,
    previousRun: CommandRange,
  ): Promise<Handled<S, E> | Rejection> {
    const events = await aggregates.eventsOfCommand(kind, stream, previousRun);
    const last = events.at(-1);
    if (!last) return endedRejection(kind);
    if (context.fingerprint && last.metadata.fingerprint !== context.fingerprint) {
      return keyReused(kind.catalog.service);
    }
    const state = async () => (await aggregates.asOf(kind, stream, previousRun.last)).state;
    if ((await hasEnded(kind, stream)) && !kind.termination?.isEnded?.(await state())) return endedRejection(kind);
    // This run may have written them in an attempt without an answer: the caller's next read must include them.
    appended(stream, last.position, 0);
    return { events, state, position: last.position, repeated: true };
  }

  /** Reads the log, because another node may have just ended the subject. */
  async function hasEnded<S, C, E extends DomainEvent>(kind: Aggregate<S, C, E>, stream: string) {
    const { isEnded, endsAt } = kind.termination ?? {};
    if (!isEnded && !endsAt) return false;
    const { state } = await aggregates.reload(kind, stream);
    return isEnded?.(state) || (endsAt !== undefined && clock.now() >= endsAt(state));
  }

  return {
    replayResult,
    /** Finds the result of a command; undefined if it never ran or had no key. Writes nothing. */
    async findResult<S, C, E extends DomainEvent>(kind: Aggregate<S, C, E>, stream: string, context: CommandContext) {
      const { commandId } = context;
      const previousRun =
        aggregates.cached(kind, stream)?.commands.get(commandId) ??
        (await aggregates.reload(kind, stream)).commands.get(commandId);
      return previousRun && replayResult(kind, stream, context, previousRun);
    },
  };
}

/** Returns the rejection for a deleted stream or an ended subject. */
export const endedRejection = ({
  catalog,
  termination,
}: Pick<Aggregate<never, never, never>, 'catalog' | 'termination'>): Rejection =>
  termination?.rejection ?? { rejected: `${catalog.service}/gone`, kind: 'gone' };

/** Rejection of a key that was used with another request (docs/guide/commands.md). */
export const keyReused = (service: string): Rejection =>
  rejection(
    `${service}/idempotency-key-reused`,
    'misused-key',
    'This Idempotency-Key was used before with another request',
  );
