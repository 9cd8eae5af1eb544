/** Builds event envelopes: ids and metadata derived from the command. */
import { hash } from 'node:crypto';
import type { DomainEvent } from '../../domain/shared/index.js';
import type { CommandContext, NewEvent } from '../ports/index.js';

/** UUIDv5 namespace of event ids. They are derived, so that the store recognizes a repeated append. */
const EVENT_NAMESPACE = Buffer.from('5f0e2a9c6d0b4c579a557f0f6f6a3b11', 'hex');
/** Maps a hex digit to one with the variant bits 10xx. */
const VARIANT = '89ab89ab89ab89ab';

export interface EventOrigin {
  /** Name of the service, for example `chat`. */
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

/** Returns a UUIDv5 (RFC 9562, section 5.5). */
function uuidFrom(name: string): string {
  const hex = hash('sha1', Buffer.concat([EVENT_NAMESPACE, Buffer.from(name)]), 'hex');
  const variant = VARIANT[Number.parseInt(hex.charAt(16), 16)];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * Returns an id seed that differs for different content. If two nodes run one `Idempotency-Key` concurrently, the store
 * then reports a conflict unless both events are identical; another body or clock is never taken for a repetition.
 * Excludes the secret, because ids are not encrypted; the keyed fingerprint stands for it.
 */
export function contentSeed({ data }: DomainEvent, { fingerprint = '' }: CommandContext): string {
  const { secret: _, ...clear } = data;
  return ` ${fingerprint} ${JSON.stringify(clear)}`;
}
