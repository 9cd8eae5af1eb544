/** Settings of the chat service. */
import { isEmail, tidyEmail, tidyName } from '../../domain/chat/names.js';
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
    description: 'Address under which people reach the chat, if not the one listened on; see auth.appUrl',
  },
  'chat.initialUser.email': {
    type: 'string',
    default: 'admin@localhost',
    description: 'Email of the initial admin, who is made at a start where there is no such user',
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
    description: 'Password of the initial admin, set where there is none yet, never written over',
  },
  'chat.registerPerHour': {
    type: 'integer',
    minimum: 1,
    default: 100,
    description: 'Users who may register themselves from one network in an hour, in password mode',
  },
  'chat.changesPerHour': {
    type: 'integer',
    minimum: 1,
    default: 1000,
    description: 'Channels one user may make or change, and names they may take, in an hour; admins as they like',
  },
  'chat.uploadsPerHour': {
    type: 'integer',
    minimum: 1,
    default: 1000,
    description: 'Files and images one user may upload in an hour; admins as they like',
  },
  'chat.sessionsPerHour': {
    type: 'integer',
    minimum: 1,
    default: 1000,
    description: 'Sessions one user may begin, or go on with by a refresh token, in an hour',
  },
  'chat.messagesPerMinute': {
    type: 'integer',
    minimum: 0,
    default: 120,
    description:
      'Messages, replies, edits, pins and reactions of one user in a minute, at most half of them at once; 0 for no limit',
  },
  'chat.webhookMessagesPerMinute': {
    type: 'integer',
    minimum: 0,
    default: 60,
    description: 'Messages of one webhook in a minute; 0 for no limit',
  },
  'chat.defaultChannel': {
    type: 'string',
    default: 'General',
    description: 'Channel that is made at the very first start; empty for none',
  },
  'server.allowedOrigins': {
    type: 'array',
    items: { type: 'string' },
    default: ['*'],
    description: 'Origins whose pages may call the chat; * for all, but not to sign in in dev mode',
  },
  'auth.authMode': {
    type: 'string',
    enum: ['dev', 'magic-link', 'password'],
    default: 'dev',
    description: 'How people sign in; dev asks for an email only, for trying out on this machine',
  },
  'auth.jwtSecret': {
    type: 'string',
    minLength: 1,
    secret: true,
    description: 'Signs the tokens of the chat; in dev mode one is made where none is given',
  },
  'auth.appUrl': {
    type: 'string',
    description: 'Public address of the application, as it stands in links and redirects',
  },
  'auth.isInviteRequired': {
    type: 'boolean',
    default: true,
    description: 'Whether only admins add users; else whoever signs in is one',
  },
  'auth.magicLinkExpirySeconds': seconds(900, 'Life of links to sign in, and to reset a password'),
  'auth.inviteExpirySeconds': seconds(604_800, 'Life of invites'),
  'auth.jwtExpirySeconds': seconds(900, 'Life of access tokens'),
  'auth.refreshTokenExpirySeconds': seconds(604_800, 'Life of a session that is not used'),
  'auth.maxActiveSessions': {
    type: 'integer',
    minimum: 1,
    maximum: 100,
    default: 3,
    description: 'Sessions a user may have; one more ends the oldest',
  },
  'auth.templates.textVersion': {
    type: 'function',
    description: 'Text of the mail with a link to sign in: (magicLink, expiryMinutes) => string',
  },
  'auth.templates.htmlVersion': {
    type: 'function',
    description: 'HTML of the mail with a link to sign in: (magicLink, expiryMinutes) => string',
  },
  allowDev: {
    type: 'boolean',
    default: false,
    description: 'Lets dev mode listen beyond this machine, where everybody may sign in as anybody',
  },
  'email.host': { type: 'string', minLength: 1, description: 'SMTP server; without one no mail is sent' },
  'email.port': { type: 'integer', minimum: 1, maximum: 65535, default: 587, description: 'Its port' },
  'email.secure': {
    type: 'boolean',
    default: false,
    description: 'TLS from the first byte; without it, STARTTLS where the server offers it',
  },
  'email.user': { type: 'string', minLength: 1, description: 'Name to sign in to it' },
  'email.password': { type: 'string', minLength: 1, secret: true, description: 'Password to sign in to it' },
  'email.from': { type: 'string', minLength: 3, description: 'Sender of mail; default email.user' },
  'email.emailSubject': {
    type: 'string',
    minLength: 1,
    default: 'Your sign-in link',
    description: 'Subject of the mail with a link to sign in',
  },
  'email.maxRetries': {
    type: 'integer',
    minimum: 0,
    maximum: 100,
    default: 8,
    description: 'How often a mail is tried again that was not taken',
  },
} as const satisfies Settings;

const SECRET_CHARACTERS = 32;
/** Values found in examples. */
const PLACEHOLDER = /change.?(?:me|this|it|in.?prod)|your.?(?:super.?)?(?:jwt.?)?secret|jwt_secret|^(.)\1*$/i;

type Known = typeof chatSettings & {
  readonly host: { readonly type: 'string'; readonly default: string; readonly description: string };
};

function unsafeSecret({ 'auth.authMode': mode, 'auth.jwtSecret': secret }: ValuesOf<Known>) {
  if (mode === 'dev') return undefined;
  const key = 'auth.jwtSecret';
  if (secret === undefined) return { key, reason: `must be set in ${mode} mode` };
  if (secret.length < SECRET_CHARACTERS)
    return { key, reason: `must have at least ${SECRET_CHARACTERS} characters in ${mode} mode` };
  if (PLACEHOLDER.test(secret)) return { key, reason: 'must not be what stands in an example' };
  return undefined;
}

/** Rules on unsafe combinations. `isLocal`: whether a host is reachable from this machine only. */
export const chatRules = (isLocal: (host: string) => boolean): readonly Rule<Known>[] => [
  (values) =>
    values['auth.authMode'] === 'dev' && !values.allowDev && !isLocal(values.host)
      ? {
          key: 'auth.authMode',
          reason: 'must not be dev on a host beyond this machine, unless --allow-dev is given',
        }
      : undefined,
  unsafeSecret,
  (values) =>
    isEmail(tidyEmail(values['chat.initialUser.email']))
      ? undefined
      : { key: 'chat.initialUser.email', reason: 'must be an email address' },
  (values) =>
    tidyName(values['chat.initialUser.userName']) === undefined
      ? { key: 'chat.initialUser.userName', reason: 'must be of 1 to 64 characters' }
      : undefined,
  (values) =>
    values['auth.authMode'] === 'magic-link' && values['email.host'] === undefined
      ? { key: 'email.host', reason: 'must be set in magic-link mode' }
      : undefined,
];
