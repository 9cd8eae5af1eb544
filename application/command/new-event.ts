/** An event on its way into the log: its id and metadata follow from the command that caused it. */
import { parse, v5 as uuidFrom } from 'uuid';
import type { DomainEvent } from '../../domain/shared/decider.js';
import type { CommandContext, NewEvent } from '../ports.js';

/** Event ids are derived from the command's id, their index and `seed`, so the store recognises a repeated append. */
const EVENT_IDS = parse('5f0e2a9c-6d0b-4c57-9a55-7f0f6f6a3b11');

export interface Origin {
  /** The one word. */
  readonly service: string;
  readonly release: string;
}

export function newEvent(
  { service, release }: Origin,
  stream: string,
  event: DomainEvent,
  index: number,
  context: CommandContext,
  seed = '',
): NewEvent {
  const { commandId, fingerprint, actor, correlationId, causationId, traceparent } = context;
  return {
    id: uuidFrom(Buffer.from(`${commandId} ${stream} ${index}${seed}`), EVENT_IDS),
    event,
    metadata: {
      $correlationId: correlationId,
      $causationId: causationId ?? commandId,
      commandId,
      ...(fingerprint ? { fingerprint } : {}),
      actor,
      service,
      release,
      ...(traceparent ? { traceparent } : {}),
    },
  };
}

/**
 * A seed by which only the very same fact has the same id. What two nodes make of one `Idempotency-Key` at once then
 * is a conflict for the store, unless it is the same to the byte: a second body, or another clock, is never taken
 * for a repetition. The secret is left out, since ids are not sealed; the fingerprint, which is keyed, speaks for it.
 */
export function factSeed({ data }: DomainEvent, { fingerprint = '' }: CommandContext): string {
  const { secret: _, ...clear } = data;
  return ` ${fingerprint} ${JSON.stringify(clear)}`;
}
