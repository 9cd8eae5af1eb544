/** Loads the state that a command is decided on: from the aggregate cache first, from the event log on a retry. */
import type { DomainEvent } from '../../domain/shared/index.js';
import type { CommandContext, RecordedEvent } from '../ports/index.js';
import { type Aggregate, type AggregateStore, emptyAggregate, type LoadedAggregate } from './aggregate-store.js';
import type { CommandRange } from './idempotency-index.js';

export interface DecisionBasis<State> {
  readonly aggregate: LoadedAggregate<State>;
  /** Events that this command has already written: in an earlier run, or in an attempt without an answer. */
  readonly previousRun: CommandRange | undefined;
  /** Whether the state was read from the log; a cached one may lack appends of other nodes. */
  readonly fromLog: boolean;
}

/**
 * Returns the loader for one command. Its first call may use the cache, and reads nothing for a command that creates
 * its stream; every further call reads the log.
 */
export function loadForDecision<S, C, E extends DomainEvent>(
  streams: AggregateStore,
  kind: Aggregate<S, C, E>,
  stream: string,
  command: C,
  { commandId }: CommandContext,
): () => Promise<DecisionBasis<S>> {
  /** Revision at the first load: an unanswered append of this run can only come after it. */
  let firstRevision: number | undefined;

  return async () => {
    const fromLog = firstRevision !== undefined;
    const ownEvents: RecordedEvent[] = [];
    const onEvent = (event: RecordedEvent) => {
      if (event.metadata.commandId === commandId) ownEvents.push(event);
    };
    const aggregate = fromLog
      ? await streams.reload(kind, stream, { onEvent, after: firstRevision })
      : kind.creates?.(command)
        ? (streams.cached(kind, stream) ?? emptyAggregate(kind.decider.initialState))
        : await streams.load(kind, stream);
    firstRevision ??= aggregate.revision;
    const [first, last] = [ownEvents[0], ownEvents.at(-1)];
    const previousRun = first && last ? { first: first.revision, last: last.revision } : aggregate.keyed.get(commandId);
    return { aggregate, previousRun, fromLog };
  };
}
