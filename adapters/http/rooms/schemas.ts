/** JSON Schemas of room requests and responses. */
import { object } from '../../../domain/shared/index.js';

const text = { type: 'string' } as const;
const time = { type: 'string', format: 'date-time' } as const;

const base64url = (minLength: number, maxLength: number) =>
  ({ type: 'string', minLength, maxLength, pattern: '^[A-Za-z0-9_-]*$' }) as const;

const participantName = {
  type: 'string',
  description: 'Truncated to 48 characters; `Unknown Guest` if blank',
} as const;

/** Other members, above all a private `d`, are dropped. */
const signingPublicKey = object({
  kty: { const: 'EC' },
  crv: { const: 'P-256' },
  x: base64url(32, 64),
  y: base64url(32, 64),
});

const inviteToken = base64url(16, 256);

export const createBody = object(
  { signingPublicKey },
  {
    participantName,
    ttlMs: {
      type: 'number',
      title: 'ttlMs',
      default: 3_600_000,
      description: 'Lifetime in milliseconds, clamped to the configured range',
    },
  },
);

export const inviteBody = object({ inviteToken });

/** No members are required, but a body must be JSON. */
export const burnBody = object({});

export const joinBody = object({ inviteToken, signingPublicKey }, { participantName });

/** The server cannot check contents: neither order nor uniqueness, and clients verify signatures. */
export const envelopeBody = object({
  keyVersion: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
  chainId: base64url(1, 128),
  messageIndex: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  chainKeyNonce: base64url(1, 256),
  chainKeyCiphertext: base64url(1, 512),
  nonce: base64url(1, 256),
  ciphertext: base64url(1, 32_768),
  signature: base64url(1, 512),
});

const participant = object({
  id: text,
  name: text,
  joinedAt: time,
  signingPublicKey: object({
    ...signingPublicKey.properties,
    ext: { const: true },
    key_ops: { type: 'array', items: { const: 'verify' } },
  }),
});
const participants = { type: 'array', items: participant } as const;

const message = object({
  id: text,
  roomId: text,
  senderId: text,
  ...envelopeBody.properties,
  createdAt: time,
  expiresAt: time,
});

export const joinResult = object({
  roomId: text,
  participantId: text,
  sessionToken: text,
  expiresAt: time,
  participants,
});
export const inviteResult = object({ inviteId: text, expiresAt: time });
export const postResult = object({ message });
export const roomState = object({
  roomId: text,
  expiresAt: time,
  participants,
  messages: { type: 'array', items: message },
});
export const success = object({ success: { const: true } });
