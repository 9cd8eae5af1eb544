/** Settings of the chat service. */
import { tidyName } from '../../domain/chat/names.js';
import { isEmail, tidyEmail } from '../../domain/shared/index.js';
import type { Rule, Settings, ValuesOf } from '../config/setting.js';

const seconds = (initial: number, description: string) =>
  ({ type: 'integer', minimum: 1, maximum: 2_147_483_647, default: initial, description }) as const;

export const chatSettings = {
  'chat.port': {
    type: 'integer',
    minimum: 0,
    maximum: 65535,
    default: 3000,
    description: 'Port of the chat; 0 picks a free one',
  },
  'chat.appUrl': {
    type: 'string',
    description: 'Public address of the chat, if different from the listen address; see auth.appUrl',
  },
  'chat.initialUser.email': {
    type: 'string',
    default: 'admin@localhost',
    description: 'Email of the initial admin, created at start if no such user exists',
  },
  'chat.initialUser.userName': {
    type: 'string',
    minLength: 1,
    default: 'Admin',
    description: 'Name of the initial admin',
  },
  'chat.initialUser.password': {
    type: 'string',
    minLength: 8,
    secret: true,
    alias: { env: 'INITIAL_USER_PASSWORD', flag: '--initialUserPassword' },
    description: 'Password of the initial admin; an existing password is kept',
  },
  'chat.registerPerHour': {
    type: 'integer',
    minimum: 1,
    default: 100,
    description: 'Registrations per network and hour, in password mode',
  },
  'chat.changesPerHour': {
    type: 'integer',
    minimum: 1,
    default: 1000,
    description: 'Channel and name changes per user and hour; admins are exempt',
  },
  'chat.uploadsPerHour': {
    type: 'integer',
    minimum: 1,
    default: 1000,
    description: 'Uploads per user and hour; admins are exempt',
  },
  'chat.sessionsPerHour': {
    type: 'integer',
    minimum: 1,
    default: 1000,
    description: 'Session starts and refreshes per user and hour',
  },
  'chat.messagesPerMinute': {
    type: 'integer',
    minimum: 0,
    default: 120,
    description:
      'Messages, replies, edits, pins and reactions per user and minute, half of them in a burst; 0 for no limit',
  },
  'chat.webhookMessagesPerMinute': {
    type: 'integer',
    minimum: 0,
    default: 60,
    description: 'Messages per webhook and minute; 0 for no limit',
  },
  'chat.defaultChannel': {
    type: 'string',
    default: 'General',
    description: 'Channel created at the first start; empty for none',
  },
  'server.allowedOrigins': {
    type: 'array',
    items: { type: 'string' },
    default: ['*'],
    description: 'Origins allowed to call the chat (CORS); * for all, except for sign-in in dev mode',
  },
  'auth.authMode': {
    type: 'string',
    enum: ['dev', 'magic-link', 'password'],
    default: 'dev',
    description: 'How people sign in; dev asks for an email only and is meant for this machine',
  },
  'auth.jwtSecret': {
    type: 'string',
    minLength: 1,
    secret: true,
    description: 'Key that signs tokens; generated in dev mode if not set',
  },
  'auth.appUrl': {
    type: 'string',
    description: 'Public address of the application, used in links and redirects',
  },
  'auth.isInviteRequired': {
    type: 'boolean',
    default: true,
    description: 'Only admins add users; otherwise anyone who signs in becomes a user',
  },
  'auth.magicLinkExpirySeconds': seconds(900, 'Lifetime of sign-in and password reset links, in seconds'),
  'auth.inviteExpirySeconds': seconds(604_800, 'Lifetime of invites, in seconds'),
  'auth.jwtExpirySeconds': seconds(900, 'Lifetime of access tokens, in seconds'),
  'auth.refreshTokenExpirySeconds': seconds(604_800, 'Lifetime of unused sessions, in seconds'),
  'auth.maxActiveSessions': {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 3,
    description: 'Maximum sessions per user; a new one ends the oldest',
  },
  'auth.templates.textVersion': {
    type: 'function',
    description: 'Text of the sign-in email: (magicLink, expiryMinutes) => string',
  },
  'auth.templates.htmlVersion': {
    type: 'function',
    description: 'HTML of the sign-in email: (magicLink, expiryMinutes) => string',
  },
  allowDev: {
    type: 'boolean',
    default: false,
    description: 'Allows dev mode, in which anyone can sign in as anyone, on addresses other machines can reach',
  },
  'email.host': { type: 'string', minLength: 1, description: 'SMTP server; if not set, no mail is sent' },
  'email.port': { type: 'integer', minimum: 1, maximum: 65535, default: 587, description: 'SMTP port' },
  'email.secure': {
    type: 'boolean',
    default: false,
    description: 'Use implicit TLS; otherwise STARTTLS if the server offers it',
  },
  'email.user': { type: 'string', minLength: 1, description: 'SMTP user name' },
  'email.password': { type: 'string', minLength: 1, secret: true, description: 'SMTP password' },
  'email.from': { type: 'string', minLength: 3, description: 'Sender address; default email.user' },
  'email.emailSubject': {
    type: 'string',
    minLength: 1,
    default: 'Your sign-in link',
    description: 'Subject of the sign-in email',
  },
  'email.maxRetries': {
    type: 'integer',
    minimum: 0,
    maximum: 100,
    default: 8,
    description: 'Retries of a mail that was not accepted',
  },
} as const satisfies Settings;

const SECRET_CHARACTERS = 32;
const PLACEHOLDER = /change.?(?:me|this|it|in.?prod)|your.?(?:super.?)?(?:jwt.?)?secret|jwt_secret|^(.)\1*$/i;

type ChatSettings = typeof chatSettings & {
  readonly host: { readonly type: 'string'; readonly default: string; readonly description: string };
};

function unsafeSecret({ 'auth.authMode': mode, 'auth.jwtSecret': secret }: ValuesOf<ChatSettings>) {
  if (mode === 'dev') return undefined;
  const key = 'auth.jwtSecret';
  if (secret === undefined) return { key, reason: `must be set in ${mode} mode` };
  if (secret.length < SECRET_CHARACTERS)
    return { key, reason: `must have at least ${SECRET_CHARACTERS} characters in ${mode} mode` };
  if (PLACEHOLDER.test(secret)) return { key, reason: 'must not be an example value' };
  return undefined;
}

/** Rules on unsafe combinations. `isLocal`: whether a host is reachable from this machine only. */
export const chatRules = (isLocal: (host: string) => boolean): readonly Rule<ChatSettings>[] => [
  (values) =>
    values['auth.authMode'] === 'dev' && !values.allowDev && !isLocal(values.host)
      ? {
          key: 'auth.authMode',
          reason: 'must not be dev on a host that other machines can reach, unless --allow-dev is given',
        }
      : undefined,
  unsafeSecret,
  (values) =>
    isEmail(tidyEmail(values['chat.initialUser.email']))
      ? undefined
      : { key: 'chat.initialUser.email', reason: 'must be an email address' },
  (values) =>
    tidyName(values['chat.initialUser.userName']) === undefined
      ? { key: 'chat.initialUser.userName', reason: 'must be 1 to 64 characters' }
      : undefined,
  (values) =>
    values['auth.authMode'] === 'magic-link' && values['email.host'] === undefined
      ? { key: 'email.host', reason: 'must be set in magic-link mode' }
      : undefined,
];
