/** JSON Schemas of requests and responses of the chat. */
import { object } from '../../../domain/shared/index.js';

export const text = { type: 'string' } as const;
export const id = { type: 'string', maxLength: 64 } as const;
/** Unix ms. */
export const time = { type: 'integer' } as const;
export const flag = { type: 'boolean' } as const;

/** The domain validates the address; the length only bounds the input. */
export const email = { type: 'string', maxLength: 320, description: 'Trimmed and lower-cased' } as const;
export const refreshToken = { type: 'string', maxLength: 512 } as const;

export const emailBody = object({ email: { ...email, pattern: '\\S' } });
/** The domain validates the length; this only bounds the input. */
const password = { type: 'string', maxLength: 16_384, description: '8 to 1024 characters' } as const;
const linkToken = { type: 'string', maxLength: 4096 } as const;
export const verifyBody = object({}, { token: linkToken, email });
export const credentialsBody = object({ email, password });
export const setupBody = object({ password }, { token: linkToken, email });
export const resetBody = object({ password });
export const refreshBody = object({ refreshToken });
export const logoutBody = object({}, { refreshToken });
export const revokeBody = object({}, { sessionId: id, refreshToken });

export const signedIn = object({
  accessToken: text,
  refreshToken: text,
  exp: { type: 'integer', description: 'Lifetime of the access token in seconds' },
  tokenType: { const: 'Bearer' },
});

export const self = object({ id: text, userName: text, isAdmin: flag });
export const devSignedIn = object({
  user: self,
  token: { type: 'string', description: 'An access token' },
  refreshToken: text,
  exp: { type: 'integer' },
  tokenType: { const: 'Bearer' },
});
export const me = object({ user: self });

export const user = object({ id: text, userName: text, isAdmin: flag, createdAt: time });
export const users = object({ users: { type: 'array', items: user } });
export const oneUser = object({ user });
export const renameBody = object({
  userName: {
    type: 'string',
    maxLength: 1024,
    description: '1 to 64 characters, unique without regard to case',
  },
});
export const role = { enum: ['user', 'admin'] } as const;
export const roleBody = object({ role });
export const addBody = object({ email, role }, { password });
export const addedUser = object(
  { success: { const: true }, userId: text },
  { message: { type: 'string', description: 'Why no invite was sent' } },
);

export const providers = object({
  providers: { type: 'array', items: object({ id: text, name: text, loginUrl: text }) },
  count: { type: 'integer' },
});

export const session = object({
  id: text,
  createdAt: time,
  lastUsedAt: time,
  expiresAt: time,
  ip: text,
  userAgent: text,
  isCurrentSession: flag,
});
export const sessions = object({ sessions: { type: 'array', items: session } });
export const success = object({ success: { const: true } });
export const successMessage = object({ success: { const: true }, message: text });
export const revoked = object({ success: { const: true }, message: text, revoked: { type: 'integer' } });

export const publicConfig = object({
  auth: object({
    mode: { enum: ['dev', 'magic-link', 'password'] },
    hasEmail: flag,
    isInviteRequired: flag,
    oauthEnabled: flag,
    passwordResetEnabled: flag,
    registrationEnabled: flag,
    routes: { type: 'object', additionalProperties: text, description: 'Paths by name' },
  }),
});
