/** Settings of the meeting service. */
import type { Rule, Settings, ValuesOf } from '../config/setting.js';

const text = { type: 'string', minLength: 1 } as const;

/** `RTCIceServer`, as browsers expect it. */
const iceServer = {
  type: 'object',
  required: ['urls'],
  properties: { urls: text, username: text, credential: text },
} as const;

export const meetingSettings = {
  'meeting.port': {
    type: 'integer',
    minimum: 0,
    maximum: 65535,
    default: 3001,
    description: 'Port of the meeting service; 0 picks a free one',
  },
  'meeting.appUrl': {
    type: 'string',
    description: 'Address under which people reach the meetings, if not the one listened on',
  },
  'meeting.iceServers': {
    type: 'array',
    items: iceServer,
    description:
      'STUN and TURN servers that clients are told of, [{urls, username, credential}]; unset, a public STUN server',
  },
  'meeting.turn.url': {
    ...text,
    pattern: '^turns?:',
    form: 'a turn: or turns: address',
    description: 'TURN server that clients are told of besides, turn:...',
  },
  'meeting.turn.username': { ...text, description: 'Name of all clients at it' },
  'meeting.turn.credential': { ...text, secret: true, description: 'Password of all clients at it' },
  'meeting.turn.secret': {
    ...text,
    secret: true,
    description: 'Shared with the TURN server: each client gets a name and a password for an hour',
  },
  'meeting.maxLatentRooms': {
    type: 'integer',
    minimum: 1,
    default: 1000,
    description: 'Rooms made before anybody came in that may stand empty',
  },
  'meeting.chatRetentionSeconds': {
    type: 'integer',
    minimum: 1,
    default: 86_400,
    description: 'How long chat and reactions of meetings are kept, in seconds',
  },
  'meeting.createPerMinute': {
    type: 'integer',
    minimum: 1,
    default: 10,
    description: 'Meeting rooms one client address may create in a minute',
  },
  'meeting.attendanceDays': {
    type: 'integer',
    minimum: 1,
    default: 30,
    description: 'Days after its end that it can be read who was in a meeting',
  },
  'meeting.connectPerMinute': {
    type: 'integer',
    minimum: 1,
    default: 10,
    description: 'WebSockets of meetings one client address may open in a minute',
  },
  'meeting.unknownPerMinute': {
    type: 'integer',
    minimum: 1,
    default: 10,
    description: 'Joins of meetings that do not exist, by one client address in a minute; then it waits',
  },
  'meeting.socketsPerAddress': {
    type: 'integer',
    minimum: 1,
    default: 200,
    description: 'WebSockets of meetings one client address may have open',
  },
  'meeting.returnSeconds': {
    type: 'number',
    minimum: 0,
    maximum: 20,
    default: 20,
    description:
      'Seconds that a lost connection keeps its place, people who left may come back as themselves, and an empty room stays open',
  },
} as const satisfies Settings;

type Values = ValuesOf<typeof meetingSettings>;

export interface IceServer {
  readonly urls: string;
  readonly username?: string;
  readonly credential?: string;
}

/** Cast that the JSON Schema guarantees. */
export const iceServersOf = (values: Values) =>
  values['meeting.iceServers'] as readonly unknown[] | undefined as readonly IceServer[] | undefined;

/** Milliseconds a disconnected participant keeps their place. */
export const returnMsOf = (values: Pick<Values, 'meeting.returnSeconds'>): number =>
  values['meeting.returnSeconds'] * 1000;

export function turnOf(values: Values): IceServer | { readonly urls: string; readonly secret: string } | undefined {
  const { 'meeting.turn.url': urls, 'meeting.turn.secret': secret } = values;
  const { 'meeting.turn.username': username, 'meeting.turn.credential': credential } = values;
  if (urls === undefined) return undefined;
  if (secret !== undefined) return { urls, secret };
  return username === undefined || credential === undefined ? undefined : { urls, username, credential };
}

export const meetingRules: readonly Rule<typeof meetingSettings>[] = [
  (values) => {
    const { 'meeting.turn.url': url, 'meeting.turn.secret': secret } = values;
    const { 'meeting.turn.username': username, 'meeting.turn.credential': credential } = values;
    if (url === undefined) {
      return (secret ?? username ?? credential)
        ? { key: 'meeting.turn.url', reason: 'is required when TURN credentials are set' }
        : undefined;
    }
    if (secret !== undefined && (username ?? credential) !== undefined)
      return {
        key: 'meeting.turn.secret',
        reason: 'cannot be combined with meeting.turn.username and meeting.turn.credential',
      };
    return secret !== undefined || (username !== undefined && credential !== undefined)
      ? undefined
      : {
          key: 'meeting.turn.url',
          reason: 'requires meeting.turn.secret, or meeting.turn.username and meeting.turn.credential',
        };
  },
];
