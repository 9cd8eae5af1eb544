/** HTTP policy of the room service: headers, CORS and error bodies with a code. */
import type { Rejection } from '../../../domain/shared/index.js';
import {
  COMMON_ANSWER_HEADERS,
  COMMON_REQUEST_HEADERS,
  cors,
  fromRejection,
  PRIVATE_HEADERS,
  type Problem,
  problem,
  type ServicePolicy,
} from '../server/policy.js';
import type { FieldError } from '../server/validate.js';

type ErrorAnswer = readonly [code: string, error: string];

/** Error code and text by rejection, as documented for clients. */
const ERRORS: { readonly [rejected: string]: ErrorAnswer } = {
  'rooms/room-not-found': ['ROOM_NOT_FOUND', 'Room not found'],
  'rooms/unauthorized': ['UNAUTHORIZED', 'Unauthorized'],
  'rooms/not-a-participant': ['UNAUTHORIZED', 'Unauthorized'],
  'rooms/invite-not-found': ['INVITE_NOT_FOUND', 'Invite not found'],
  'rooms/room-full': ['ROOM_FULL', 'Room is full'],
  'rooms/invite-exists': ['INVITE_EXISTS', 'Invite already exists'],
  'rooms/message-replayed': ['MESSAGE_REPLAYED', 'Message was already posted'],
  'rooms/invite-used': ['INVITE_USED', 'Invite was already used'],
  'rooms/too-many-invites': ['TOO_MANY_INVITES', 'Too many invites'],
  'rooms/too-many-messages': ['TOO_MANY_MESSAGES', 'Too many messages'],
  'rooms/too-many-rooms': ['TOO_MANY_ROOMS', 'Too many rooms'],
};

/** Codes of errors outside the room rules, by status: routing, body, server. */
const CODES: { readonly [status: number]: string } = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_ALLOWED',
  408: 'REQUEST_TIMEOUT',
  413: 'TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  422: 'IDEMPOTENCY_KEY_REUSED',
  429: 'TOO_MANY_REQUESTS',
  431: 'HEADER_TOO_LARGE',
  503: 'UNAVAILABLE',
};

function rejected(rejection: Rejection): Problem {
  const base = fromRejection(rejection);
  const [code, error] = ERRORS[rejection.rejected] ?? [base.code, base.error];
  return { ...base, code, error };
}

const ENVELOPE_TEXTS = ['chainId', 'chainKeyNonce', 'chainKeyCiphertext', 'nonce', 'ciphertext', 'signature'];

/** An oversized envelope field is answered 413, like an oversized body. */
function invalid({ keyword, field, message }: FieldError): Problem | undefined {
  return keyword === 'maxLength' && ENVELOPE_TEXTS.includes(field) ? problem(413, message) : undefined;
}

export const roomsPolicy = (version: string, allowedOrigins: readonly string[]): ServicePolicy => ({
  service: 'rooms',
  title: 'Encrypted rooms',
  description:
    'Short-lived rooms for end-to-end encrypted, signed messages. The server stores and relays ciphertext only.',
  version,
  cors: cors({
    origins: allowedOrigins,
    methods: ['GET', 'POST', 'DELETE', 'OPTIONS'],
    headers: COMMON_REQUEST_HEADERS,
    expose: COMMON_ANSWER_HEADERS,
  }),
  headers: PRIVATE_HEADERS,
  errorBody: ({ problem: status, error, code }) => ({ error, code: code ?? CODES[status] ?? 'INTERNAL' }),
  errorSchema: {
    type: 'object',
    required: ['error', 'code'],
    properties: { error: { type: 'string' }, code: { type: 'string' } },
  },
  rejected,
  invalid,
  securitySchemes: { session: { type: 'http', scheme: 'bearer', description: 'Session token' } },
});
