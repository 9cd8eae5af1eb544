/** What a command is decided on: its stream as this process remembers it, or as the log has it. */
import type { DomainEvent } from '../../domain/shared/index.js';
import type { CommandContext, RecordedEvent } from '../ports/index.js';
import { type Aggregate, type AggregateStore, emptyAggregate, type LoadedAggregate } from './aggregate-store.js';
import type { CommandRange } from './idempotency-index.js';

export interface DecisionBasis<State> {
  readonly loaded: LoadedAggregate<State>;
  /** What this very command has written: in a run before this one, or in an attempt whose answer was lost. */
  readonly previousRun: CommandRange | undefined;
  /** By the log itself; else it may be what was remembered, and another node has gone on since. */
  readonly fromLog: boolean;
}

/**
 * Looks at the stream of a command: at first what is remembered will do, and nothing need be read where the stream is
 * born of the command; whoever looks again is shown the log.
 */
export function loadForDecision<S, C, E extends DomainEvent>(
  streams: AggregateStore,
  kind: Aggregate<S, C, E>,
  stream: string,
  command: C,
  { commandId, fingerprint }: CommandContext,
): () => Promise<DecisionBasis<S>> {
  /** Where the stream was at the first look: an append of this run that was lost can only be after it. */
  let begun: number | undefined;

  return async () => {
    const fromLog = begun !== undefined;
    const mine: RecordedEvent[] = [];
    const found = (event: RecordedEvent) => {
      if (event.metadata.commandId === commandId) mine.push(event);
    };
    const seen = fromLog
      ? await streams.reload(kind, stream, { found, after: begun })
      : kind.creates?.(command)
        ? (streams.cached(kind, stream) ?? emptyAggregate(kind.decider.initialState))
        : await streams.load(kind, stream);
    const loaded = fingerprint ? await streams.withIdempotencyIndex(kind, stream, seen) : seen;
    begun ??= loaded.revision;
    const [first, last] = [mine[0], mine.at(-1)];
    const previousRun = first && last ? { first: first.revision, last: last.revision } : loaded.keyed.get(commandId);
    return { loaded, previousRun, fromLog };
  };
}
