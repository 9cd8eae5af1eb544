/** Builds event envelopes: command ids, and the event ids and metadata derived from them. */
import { hash, randomUUID } from 'node:crypto';
import type { DomainEvent } from '../../domain/shared/index.js';
import type { CommandContext, Derivation, NewEvent, RecordedEvent } from '../ports/index.js';

/** Returns a UUIDv7, for commands without an idempotency key: ids derived from it sort by time. `now`: Unix ms. */
export function newCommandId(now = Date.now()): string {
  const time = now.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

const UUID_V7 = /^([\da-f]{8})-([\da-f]{4})-7/;

/** Returns the Unix ms of a UUIDv7; undefined for an id derived from a client's key or an event. */
export function timestampOf(commandId: string): number | undefined {
  const [, high, low] = UUID_V7.exec(commandId) ?? [];
  return high && low ? Number.parseInt(high + low, 16) : undefined;
}

/** Returns the context of a command that the program itself runs. */
export function systemContext(actor: string): CommandContext {
  const commandId = newCommandId();
  return { commandId, actor, correlationId: commandId };
}

/** Returns the context of another command of the same request, without its quota. `what`: `<service>.<command>`. */
export const nextContext = (
  derivation: Pick<Derivation, 'id'>,
  what: string,
  { quota: _, ...context }: CommandContext,
): CommandContext => ({ ...context, commandId: derivation.id(what, context.commandId) });

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
export function uuidFrom(name: string): string {
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

/** Tests the type of an event: `isEvent<RoomBurned>('RoomBurned', event)`. */
export const isEvent = <E extends DomainEvent>(
  type: E['type'],
  event: RecordedEvent,
): event is RecordedEvent<E> & RecordedEvent => event.type === type;

/** Casts an event of a stream that contains only events of type `E`. */
export const asEvent = <E extends DomainEvent>(event: RecordedEvent) => event as RecordedEvent<E>;
