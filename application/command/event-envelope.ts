/** An event on its way into the log: its id and metadata follow from the command that caused it. */
import { hash } from 'node:crypto';
import type { DomainEvent } from '../../domain/shared/index.js';
import type { CommandContext, NewEvent } from '../ports/index.js';

/** Event ids are derived from the command's id, their index and `seed`, so the store recognises a repeated append. */
const EVENT_IDS = Buffer.from('5f0e2a9c6d0b4c579a557f0f6f6a3b11', 'hex');
/** Bits of the variant, as the first digit of its group has them: 10xx. */
const VARIANT = '89ab89ab89ab89ab';

export interface EventOrigin {
  /** The one word. */
  readonly service: string;
  readonly release: string;
}

export function newEvent(
  { service, release }: EventOrigin,
  stream: string,
  event: DomainEvent,
  index: number,
  context: CommandContext,
  seed = '',
): NewEvent {
  const { commandId, fingerprint, actor, correlationId, causationId, traceparent } = context;
  return {
    id: uuidFrom(`${commandId} ${stream} ${index}${seed}`),
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

/** A UUID of version 5 (RFC 9562, section 5.5). */
function uuidFrom(name: string): string {
  const hex = hash('sha1', Buffer.concat([EVENT_IDS, Buffer.from(name)]), 'hex');
  const variant = VARIANT[Number.parseInt(hex.charAt(16), 16)];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * A seed by which only the very same fact has the same id. What two nodes make of one `Idempotency-Key` at once then
 * is a conflict for the store, unless it is the same to the byte: a second body, or another clock, is never taken
 * for a repetition. The secret is left out, since ids are not sealed; the fingerprint, which is keyed, speaks for it.
 */
export function contentSeed({ data }: DomainEvent, { fingerprint = '' }: CommandContext): string {
  const { secret: _, ...clear } = data;
  return ` ${fingerprint} ${JSON.stringify(clear)}`;
}
