/** Handles a command: loads the aggregate, decides, appends; retries on conflicts and lost answers. */
import { setTimeout as delay } from 'node:timers/promises';
import { type DomainEvent, evolveOf, isRejection, type Rejection } from '../../domain/shared/index.js';
import { createKeyedMutex, RETRY_MS } from '../concurrency/index.js';
import {
  type AppendOutcome,
  type CommandContext,
  type EventLog,
  isTransient,
  type Logger,
  type Position,
  type Quota,
  type RecordedEvent,
  UnavailableError,
} from '../ports/index.js';
import type { Aggregate, AggregateStore, CommandRange, LoadedAggregate } from './aggregate.js';
import { emptyAggregate, recordCommand } from './aggregate-store.js';
import { contentSeed, newEvent } from './event-envelope.js';
import { endedRejection, type Handled, type Idempotency } from './idempotency.js';

/**
 * Handles one command on one stream.
 *
 * Resolves with the events once they are flushed, or with a rejection. Throws `UnavailableError` after 10 conflicts,
 * without the event log, or after too long a wait for other commands on the stream. The events may have been written
 * then; sending the same command (same `commandId`) again is safe.
 *
 * The quota of the context is charged once, just before the first append, and refunded if the command is rejected
 * later, turns out to be a repetition, or is never appended.
 *
 * @param beforeAppend Runs once, after the charge and before the first append. Creates prerequisites such as an
 * encryption key; may resolve to a rejection. Not run for rejections, no-ops and repetitions, except for a command that creates its
 * stream, where only the append detects the repetition.
 */
export type HandleCommand = <S, C, E extends DomainEvent>(
  kind: Aggregate<S, C, E>,
  stream: string,
  command: C,
  context: CommandContext,
  beforeAppend?: () => Promise<unknown>,
) => Promise<Handled<S, E> | Rejection>;

const ATTEMPTS = 10;

export interface HandleOptions {
  readonly log: EventLog;
  readonly aggregates: AggregateStore;
  readonly idempotency: Idempotency;
  readonly release: string;
  readonly logger: Logger;
  /** Called for every append, new or found by a repetition, before the command resolves. */
  readonly appended: (stream: string, position: Position, events: number) => void;
  readonly conflicted: (stream: string) => void;
}

/** A command in progress, over all its attempts. */
interface Run<S, C, E extends DomainEvent> {
  readonly kind: Aggregate<S, C, E>;
  readonly stream: string;
  readonly command: C;
  readonly context: CommandContext;
  readonly charge: () => Promise<Rejection | undefined>;
  /** Revision of the first state loaded: an unanswered append of this run can only come after it. */
  firstRevision?: number;
  /** Last revision the store reported for a `$maxAge` stream; all of its events may have expired. */
  expiredAt?: number | undefined;
}

interface Basis<S> {
  readonly aggregate: LoadedAggregate<S>;
  /** Events that this command has already written: in an earlier run, or in an attempt without an answer. */
  readonly previousRun: CommandRange | undefined;
}

type Outcome<S, E extends DomainEvent> = Handled<S, E> | Rejection;

export function createHandleCommand(options: HandleOptions): HandleCommand {
  const { log, aggregates, idempotency, release, logger, appended, conflicted } = options;
  const runExclusive = createKeyedMutex();

  return (kind, stream, command, context, beforeAppend) =>
    runExclusive(stream, () =>
      withQuota(context.quota, beforeAppend, (charge) => retryLoop({ kind, stream, command, context, charge })),
    );

  async function retryLoop<S, C, E extends DomainEvent>(run: Run<S, C, E>): Promise<Outcome<S, E>> {
    const { stream } = run;
    const deadline = performance.now() + RETRY_MS;
    for (let attempts = 0; attempts < ATTEMPTS; attempts++) {
      if (attempts > 0) await delay(Math.random() * 5 * 2 ** attempts);
      try {
        const outcome = await decideAndAppend(run);
        if (outcome !== 'conflict') return outcome;
        conflicted(stream);
      } catch (error) {
        // The append may have succeeded: the next attempt looks for it in the log first.
        if (!isTransient(error) || performance.now() > deadline) throw error;
        logger.warn({ err: error, stream, tried: attempts }, 'event log did not answer; retrying');
      }
    }
    throw new UnavailableError(`too many conflicting writes to ${stream}; try again later`);
  }

  /** Makes one attempt; repeats it on fresh state if the outcome relied on a cached one. */
  async function decideAndAppend<S, C, E extends DomainEvent>(run: Run<S, C, E>): Promise<Outcome<S, E> | 'conflict'> {
    const { kind, stream, command, context, charge } = run;
    const fromLog = run.firstRevision !== undefined;
    const { aggregate, previousRun } = fromLog ? await loadFromLog(run) : await loadFirst(run);
    run.firstRevision ??= aggregate.revision;
    if (previousRun) return idempotency.replayResult(kind, stream, context, previousRun);
    if (aggregate.deleted) return endedRejection(kind);
    const events = kind.decider.decide(command, aggregate.state);
    if (isRejection(events) || events.length === 0) {
      // Without an append no expected revision detects stale state: decide on the log's.
      if (!fromLog) return decideAndAppend(run);
      return isRejection(events) ? events : handled(aggregate.state, aggregate.position, []);
    }
    const refusal = await charge();
    // The command may have run on another node already, which only the log shows. Repetitions are free.
    if (refusal && !fromLog && context.fingerprint) return decideAndAppend(run);
    return refusal ?? append(run, aggregate, events);
  }

  /** Loads the state for the first attempt: may lack appends of other nodes. Reads nothing for a new stream. */
  async function loadFirst<S, C, E extends DomainEvent>(run: Run<S, C, E>): Promise<Basis<S>> {
    const { kind, stream, command, context } = run;
    const aggregate = kind.creates?.(command)
      ? (aggregates.cached(kind, stream) ?? emptyAggregate(kind.decider.initialState))
      : await aggregates.load(kind, stream);
    return { aggregate, previousRun: aggregate.commands.get(context.commandId) };
  }

  /** Reads the log, and looks for events of an attempt that got no answer. */
  async function loadFromLog<S, C, E extends DomainEvent>(run: Run<S, C, E>): Promise<Basis<S>> {
    const { kind, stream, context, firstRevision } = run;
    const own: RecordedEvent[] = [];
    const onEvent = (event: RecordedEvent) => {
      if (event.metadata.commandId === context.commandId) own.push(event);
    };
    const aggregate = await aggregates.reload(kind, stream, { onEvent, after: firstRevision });
    const [first, last] = [own[0], own.at(-1)];
    const previousRun = first && last && { first: first.revision, last: last.revision };
    return { aggregate, previousRun: previousRun ?? aggregate.commands.get(context.commandId) };
  }

  async function append<S, C, E extends DomainEvent>(
    run: Run<S, C, E>,
    aggregate: LoadedAggregate<S>,
    events: readonly E[],
  ): Promise<Outcome<S, E> | 'conflict'> {
    const { kind, stream, context } = run;
    const origin = { service: kind.catalog.service, release };
    const envelopes = events.map((event, index) =>
      newEvent(origin, stream, event, index, context, contentSeed(event, context)),
    );
    const last = Math.max(aggregate.revision, run.expiredAt ?? -1);
    const result: AppendOutcome = await log.append(stream, last < 0 ? 'none' : last, envelopes);
    if (result.outcome === 'conflict') {
      if (kind.maxAge) run.expiredAt = result.revision;
      return 'conflict';
    }
    if (result.outcome === 'deleted') return endedRejection(kind);
    const state = events.reduce(evolveOf<S, E>(kind.decider), aggregate.state);
    const { revision, position } = result;
    recordCommand(kind, aggregate.commands, context, { first: revision - events.length + 1, last: revision });
    aggregates.remember(stream, { ...aggregate, state, revision, position });
    appended(stream, position, events.length);
    return handled(state, position, events);
  }
}

const handled = <S, E extends DomainEvent>(state: S, position: Position, events: readonly E[]): Handled<S, E> => ({
  events,
  state: async () => state,
  position,
  repeated: false,
});

type Step = () => Promise<Rejection | undefined>;

/**
 * Runs a command, which must call `charge` before each append and return its rejection, if any. `charge` spends the
 * quota and runs `beforeAppend`, each until it has succeeded once. The quota is refunded if the command is rejected,
 * is a repetition or never gets to its append.
 */
async function withQuota<Outcome extends Rejection | { readonly repeated: boolean }>(
  quota: Quota | undefined,
  beforeAppend: (() => Promise<unknown>) | undefined,
  run: (charge: Step) => Promise<Outcome>,
): Promise<Outcome> {
  let isCharged = false;
  /** From the append on the charge stays: without an answer the events may be in the log. */
  let isFinal = false;

  async function charge() {
    if (!isCharged) {
      const refusal = await quota?.spend();
      if (refusal) return refusal;
      isCharged = true;
    }
    if (!isFinal) {
      const refusal = await beforeAppend?.();
      if (isRejection(refusal)) return refusal;
      isFinal = true;
    }
    return undefined;
  }

  try {
    const outcome = await run(charge);
    if (isRejection(outcome) || outcome.repeated) isFinal = false;
    return outcome;
  } finally {
    if (isCharged && !isFinal) await quota?.refund();
  }
}
