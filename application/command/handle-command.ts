/** Load, decide, append; decide again on a conflict. The road every command of every service takes. */
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
  UnavailableError,
} from '../ports/index.js';
import type { Aggregate, AggregateStore, LoadedAggregate } from './aggregate-store.js';
import { contentSeed, newEvent } from './event-envelope.js';
import { goneRejection, type Handled, type Idempotency } from './idempotency.js';
import { recordCommand } from './idempotency-index.js';
import { type DecisionBasis, loadForDecision } from './load-for-decision.js';
import { withQuota } from './quota.js';

/**
 * Runs a command on a stream. Resolves when its events are flushed, or with the reason why not. Rejects with
 * `Unavailable` when the log is away or the stream too busy, for 10 attempts or for the many who wait: it may then have
 * been done or not, and the same command (same `commandId`) may be sent again.
 *
 * `before` is run once, just before the first append: never for a refusal, or what is already so, nor for a repetition,
 * unless it `begins` a stream and only the append can tell. What must be there first is made in it; it may refuse. Before
 * that the command spends of its context's quota, which gets back what came to nothing: a command that was refused after
 * all, or turned out to be a repetition (another node may have run it at the same moment), or never came to its append.
 * Where one with a key is refused by either, the log is asked whether it is a repetition, and both once more if not.
 */
export type HandleCommand = <S, C, E extends DomainEvent>(
  kind: Aggregate<S, C, E>,
  stream: string,
  command: C,
  context: CommandContext,
  before?: () => Promise<Rejection | undefined>,
) => Promise<Handled<S, E> | Rejection>;

const ATTEMPTS = 10;

export interface HandleOptions {
  readonly log: EventLog;
  readonly streams: AggregateStore;
  readonly repetition: Idempotency;
  readonly release: string;
  readonly logger: Logger;
  /** Told of every append, found or made, before the command is answered. */
  readonly appended: (stream: string, position: Position, events: number) => void;
  readonly conflicted: (stream: string) => void;
}

/** A command on its way. */
interface Run<S, C, E extends DomainEvent> {
  readonly kind: Aggregate<S, C, E>;
  readonly stream: string;
  readonly command: C;
  readonly context: CommandContext;
  readonly load: () => Promise<DecisionBasis<S>>;
  readonly charge: () => Promise<Rejection | undefined>;
  /**
   * Where a stream was whose events expire, as the store has told: none of them may be left, or, where a clock was
   * behind, older ones alone.
   */
  expired?: number | undefined;
}

type Outcome<S, E extends DomainEvent> = Handled<S, E> | Rejection;

export function createHandleCommand(options: HandleOptions): HandleCommand {
  const { log, streams, repetition, release, logger, appended, conflicted } = options;
  const inLine = createKeyedMutex();

  return (kind, stream, command, context, before) =>
    inLine(stream, () =>
      withQuota(context.quota, before, (charge) => {
        const load = loadForDecision(streams, kind, stream, command, context);
        return retryLoop({ kind, stream, command, context, load, charge });
      }),
    );

  /** Attempt after attempt, while others are faster and while the log does not answer. */
  async function retryLoop<S, C, E extends DomainEvent>(run: Run<S, C, E>): Promise<Outcome<S, E>> {
    const { stream } = run;
    const until = performance.now() + RETRY_MS;
    for (let tried = 0; tried < ATTEMPTS; tried++) {
      if (tried > 0) await delay(Math.random() * 5 * 2 ** tried);
      try {
        const outcome = await attempt(run);
        if (outcome !== 'conflict') return outcome;
        conflicted(stream);
      } catch (error) {
        // The append may have been taken all the same: the next attempt looks for it, and never appends blindly.
        if (!isTransient(error) || performance.now() > until) throw error;
        logger.warn({ err: error, stream, tried }, 'the log did not answer, trying again');
      }
    }
    throw new UnavailableError(`${stream} is too busy`);
  }

  /** Looks, decides, pays, appends. Whatever comes to no end is decided again by another look. */
  async function attempt<S, C, E extends DomainEvent>(run: Run<S, C, E>): Promise<Outcome<S, E> | 'conflict'> {
    const { kind, stream, command, context, load, charge } = run;
    const { loaded, previousRun, fromLog } = await load();
    if (previousRun) return repetition.replayResult(kind, stream, context, previousRun);
    if (loaded.deleted) return goneRejection(kind);
    const decided = kind.decider.decide(command, loaded.state);
    if (isRejection(decided) || decided.length === 0) {
      // No expected revision guards what appends nothing: it must not rest on what another node has changed.
      if (!fromLog) return attempt(run);
      return isRejection(decided) ? decided : handled(loaded.state, loaded.position, []);
    }
    const refused = await charge();
    // One that another node ran, of which nothing was heard here yet, costs nothing: only the log tells it from others.
    if (refused && !fromLog && context.fingerprint) return attempt(run);
    return refused ?? append(run, loaded, decided);
  }

  async function append<S, C, E extends DomainEvent>(
    run: Run<S, C, E>,
    loaded: LoadedAggregate<S>,
    decided: readonly E[],
  ): Promise<Outcome<S, E> | 'conflict'> {
    const { kind, stream, context } = run;
    const origin = { service: kind.catalog.service, release };
    const events = decided.map((event, index) =>
      newEvent(origin, stream, event, index, context, contentSeed(event, context)),
    );
    const last = Math.max(loaded.revision, run.expired ?? -1);
    const result: AppendOutcome = await log.append(stream, last < 0 ? 'none' : last, events);
    if (result.outcome === 'conflict') {
      if (kind.maxAge) run.expired = result.revision;
      return 'conflict';
    }
    if (result.outcome === 'deleted') return goneRejection(kind);
    const state = decided.reduce(evolveOf<S, E>(kind.decider), loaded.state);
    const { revision, position } = result;
    recordCommand(kind, loaded.keyed, context, { first: revision - events.length + 1, last: revision });
    streams.remember(stream, { ...loaded, state, revision, position });
    appended(stream, position, events.length);
    return handled(state, position, decided);
  }
}

const handled = <S, E extends DomainEvent>(state: S, position: Position, events: readonly E[]): Handled<S, E> => ({
  events,
  state: async () => state,
  position,
  repeated: false,
});
