/** Settings of the meeting service. */
import { integer, port, type Rule, type Settings, string, type ValuesOf } from '../config/setting.js';

const text = { type: 'string', minLength: 1 } as const;

/** `RTCIceServer`, as browsers expect it. */
const iceServer = {
  type: 'object',
  required: ['urls'],
  properties: { urls: text, username: text, credential: text },
} as const;

export const meetingSettings = {
  'meeting.port': port(3001, 'Port of the meeting service; 0 picks a free one'),
  'meeting.appUrl': string('Public URL of the meeting service, if it differs from the listening address'),
  'meeting.iceServers': {
    type: 'array',
    items: iceServer,
    description:
      'ICE servers (STUN, TURN) sent to clients, [{urls, username, credential}]; default: a public STUN server',
  },
  'meeting.turn.url': {
    ...text,
    pattern: '^turns?:',
    form: 'a turn: or turns: address',
    description: 'Additional TURN server sent to clients, turn:...',
  },
  'meeting.turn.username': { ...text, description: 'Username shared by all clients of the TURN server' },
  'meeting.turn.credential': {
    ...text,
    secret: true,
    description: 'Password shared by all clients of the TURN server',
  },
  'meeting.turn.secret': {
    ...text,
    secret: true,
    description: 'Secret shared with the TURN server; each client gets credentials valid for one hour',
  },
  'meeting.maxLatentRooms': integer(1000, 'Maximum number of empty rooms created in advance'),
  'meeting.chatRetentionSeconds': integer(86_400, 'Seconds that chat and reactions of meetings are retained'),
  'meeting.createPerMinute': integer(10, 'Maximum meeting rooms created per client address and minute'),
  'meeting.attendanceDays': integer(30, 'Days the attendance of a meeting stays readable after its end'),
  'meeting.connectPerMinute': integer(10, 'Maximum meeting WebSockets opened per client address and minute'),
  'meeting.unknownPerMinute': integer(
    10,
    'Maximum joins of unknown meetings per client address and minute; beyond, the address has to wait',
  ),
  'meeting.socketsPerAddress': integer(200, 'Maximum open meeting WebSockets per client address'),
  'meeting.returnSeconds': {
    type: 'number',
    minimum: 0,
    maximum: 20,
    default: 20,
    description:
      'Seconds a disconnected participant keeps their place, a participant who left may rejoin under the same id, and an empty room stays open',
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

export function turnServerOf(
  values: Values,
): IceServer | { readonly urls: string; readonly secret: string } | undefined {
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
