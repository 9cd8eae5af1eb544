/** What a command is decided on: its stream as this process remembers it, or as the log has it. */
import type { DomainEvent } from '../../domain/shared/decider.js';
import type { CommandContext, RecordedEvent } from '../ports/index.js';
import { type Aggregate, type Loaded, type Streams, unborn } from './aggregate-store.js';
import type { KeyedCommand } from './idempotency-index.js';

export interface Seen<State> {
  readonly loaded: Loaded<State>;
  /** What this very command has written: in a run before this one, or in an attempt whose answer was lost. */
  readonly earlier: KeyedCommand | undefined;
  /** By the log itself; else it may be what was remembered, and another node has gone on since. */
  readonly fresh: boolean;
}

/**
 * Looks at the stream of a command: at first what is remembered will do, and nothing need be read where the stream is
 * born of the command; whoever looks again is shown the log.
 */
export function looking<S, C, E extends DomainEvent>(
  streams: Streams,
  kind: Aggregate<S, C, E>,
  stream: string,
  command: C,
  { commandId, fingerprint }: CommandContext,
): () => Promise<Seen<S>> {
  /** Where the stream was at the first look: an append of this run that was lost can only be after it. */
  let begun: number | undefined;

  return async () => {
    const fresh = begun !== undefined;
    const mine: RecordedEvent[] = [];
    const found = (event: RecordedEvent) => {
      if (event.metadata.commandId === commandId) mine.push(event);
    };
    const seen = fresh
      ? await streams.refresh(kind, stream, { found, after: begun })
      : kind.begins?.(command)
        ? (streams.known(kind, stream) ?? unborn(kind.decider.initialState))
        : await streams.load(kind, stream);
    const loaded = fingerprint ? await streams.recalling(kind, stream, seen) : seen;
    begun ??= loaded.revision;
    const [first, last] = [mine[0], mine.at(-1)];
    const earlier =
      first && last ? { first: first.revision, last: last.revision } : loaded.keyed.get(commandId);
    return { loaded, earlier, fresh };
  };
}
