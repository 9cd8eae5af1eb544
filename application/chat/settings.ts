/** Settings of the chat service. */
import { tidyName } from '../../domain/chat/names.js';
import { isEmail, tidyEmail } from '../../domain/shared/index.js';
import {
  boolean,
  integer,
  port,
  type Rule,
  type Settings,
  string,
  strings,
  text,
  type ValuesOf,
} from '../config/setting.js';
import type { mailSettings } from '../mail/settings.js';

const seconds = (initial: number, description: string) =>
  ({ type: 'integer', minimum: 1, maximum: 2_147_483_647, default: initial, description }) as const;

const template = (version: string) =>
  ({ type: 'function', description: `${version} of the sign-in email: (magicLink, expiryMinutes) => string` }) as const;

export const chatSettings = {
  'chat.port': port(3000, 'Port of the chat; 0 picks a free one'),
  'chat.appUrl': string('Public address of the chat, if different from the listen address; see auth.appUrl'),
  'chat.initialUser.email': text(
    'admin@localhost',
    'Email of the initial admin, created at start if no such user exists',
  ),
  'chat.initialUser.userName': text('Admin', 'Name of the initial admin', { minLength: 1 }),
  'chat.initialUser.password': {
    type: 'string',
    minLength: 8,
    secret: true,
    alias: { env: 'INITIAL_USER_PASSWORD', flag: '--initialUserPassword' },
    description: 'Password of the initial admin; an existing password is kept',
  },
  'chat.registerPerHour': integer(100, 'Registrations per network and hour, in password mode'),
  'chat.changesPerHour': integer(1000, 'Channel and name changes per user and hour; admins are exempt'),
  'chat.uploadsPerHour': integer(1000, 'Uploads per user and hour; admins are exempt'),
  'chat.sessionsPerHour': integer(1000, 'Session starts and refreshes per user and hour'),
  'chat.messagesPerMinute': integer(
    120,
    'Messages, replies, edits, pins and reactions per user and minute, half of them in a burst; 0 for no limit',
    { minimum: 0 },
  ),
  'chat.webhookMessagesPerMinute': integer(60, 'Messages per webhook and minute; 0 for no limit', { minimum: 0 }),
  'chat.defaultChannel': text('General', 'Channel created at the first start; empty for none'),
  'server.allowedOrigins': strings(
    ['*'],
    'Origins allowed to call the chat (CORS); * for all, except for sign-in in dev mode',
  ),
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
  'auth.appUrl': string('Public address of the application, used in links and redirects'),
  'auth.isInviteRequired': boolean(true, 'Only admins add users; otherwise anyone who signs in becomes a user'),
  'auth.magicLinkExpirySeconds': seconds(900, 'Lifetime of sign-in and password reset links, in seconds'),
  'auth.inviteExpirySeconds': seconds(604_800, 'Lifetime of invites, in seconds'),
  'auth.jwtExpirySeconds': seconds(900, 'Lifetime of access tokens, in seconds'),
  'auth.refreshTokenExpirySeconds': seconds(604_800, 'Lifetime of unused sessions, in seconds'),
  'auth.maxActiveSessions': integer(3, 'Maximum sessions per user; a new one ends the oldest', { maximum: 100 }),
  'auth.templates.textVersion': template('Text'),
  'auth.templates.htmlVersion': template('HTML'),
  allowDev: boolean(
    false,
    'Allows dev mode, in which anyone can sign in as anyone, on addresses other machines can reach',
  ),
  'email.emailSubject': text('Your sign-in link', 'Subject of the sign-in email', { minLength: 1 }),
} as const satisfies Settings;

const SECRET_CHARACTERS = 32;
const PLACEHOLDER = /change.?(?:me|this|it|in.?prod)|your.?(?:super.?)?(?:jwt.?)?secret|jwt_secret|^(.)\1*$/i;

type ChatSettings = typeof chatSettings &
  typeof mailSettings & {
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
