/** What may be said over a WebSocket: a closed list of message types, each with its members. */
import type { DataOf, JsonSchema } from '../../../domain/shared/index.js';
import { messageValidator, type Validate } from '../../http/server/validate.js';
import type { FieldError } from '../../http/server/validation-message.js';

/** By `type`, the schema of the message's other members; what a schema does not name is passed over. */
export type MessageSchemas = { readonly [type: string]: JsonSchema };

/** A message as it may be said: `type`, and the members that its schema names. */
export interface Message {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** The messages of a vocabulary that is written `as const`. */
export type MessageOf<V extends MessageSchemas> = {
  readonly [type in keyof V & string]: { readonly type: type } & DataOf<V[type]>;
}[keyof V & string];

/** Why a message was not understood. */
export type Misunderstanding =
  /** No JSON object, or one whose `type` is no text. */
  | { readonly why: 'unreadable' }
  | { readonly why: 'unknown-type'; readonly type: string }
  | { readonly why: 'wrong'; readonly type: string; readonly error: FieldError }
  /** More than may be said in a second, or than is taken now. */
  | { readonly why: 'too-many' };

export type Read = (text: string) => { readonly message: Message } | Misunderstanding;

export function createReader(vocabulary: MessageSchemas): Read {
  const checks = new Map<string, Validate>(
    Object.entries(vocabulary).map(([type, { properties, required = [], ...more }]) => {
      const members = { ...(properties as object), type: { const: type } };
      const needed = [...(required as readonly string[]), 'type'];
      return [type, messageValidator({ type: 'object', ...more, properties: members, required: needed })];
    }),
  );
  return (text) => {
    const message = parsed(text);
    if (!message) return { why: 'unreadable' };
    const { type } = message;
    const check = checks.get(type);
    if (!check) return { why: 'unknown-type', type };
    const error = check(message);
    return error ? { why: 'wrong', type, error } : { message };
  };
}

function parsed(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isMessage = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isMessage && typeof (value as Message).type === 'string' ? (value as Message) : undefined;
  } catch {
    return undefined;
  }
}
