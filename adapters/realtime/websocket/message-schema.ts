/** Parses and validates WebSocket messages against a closed list of types. */
import type { DataOf, JsonSchema } from '../../../domain/shared/index.js';
import { type FieldError, messageValidator, type Validate } from '../../http/server/validate.js';

/** Schemas by `type`, of the other members. Members without a schema are ignored. */
export type MessageSchemas = { readonly [type: string]: JsonSchema };

export interface Message {
  readonly type: string;
  readonly [member: string]: unknown;
}

export type MessageOf<V extends MessageSchemas> = {
  readonly [type in keyof V & string]: { readonly type: type } & DataOf<V[type]>;
}[keyof V & string];

export type MessageError =
  /** Not a JSON object, or `type` is not a string. */
  | { readonly why: 'unreadable' }
  | { readonly why: 'unknown-type'; readonly type: string }
  | { readonly why: 'wrong'; readonly type: string; readonly error: FieldError }
  /** Over the rate limit, or the server is overloaded. */
  | { readonly why: 'too-many' };

export type Read = (text: string) => { readonly message: Message } | MessageError;

export function createReader(vocabulary: MessageSchemas): Read {
  const checks = new Map<string, Validate>(
    Object.entries(vocabulary).map(([type, { properties, required = [], ...more }]) => {
      const members = { ...(properties as object), type: { const: type } };
      const requiredNames = [...(required as readonly string[]), 'type'];
      return [type, messageValidator({ type: 'object', ...more, properties: members, required: requiredNames })];
    }),
  );
  return (text) => {
    const message = parseMessage(text);
    if (!message) return { why: 'unreadable' };
    const { type } = message;
    const check = checks.get(type);
    if (!check) return { why: 'unknown-type', type };
    const error = check(message);
    return error ? { why: 'wrong', type, error } : { message };
  };
}

function parseMessage(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isMessage = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isMessage && typeof (value as Message).type === 'string' ? (value as Message) : undefined;
  } catch {
    return undefined;
  }
}
