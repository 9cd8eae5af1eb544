/** What is said over the WebSocket of the meetings, either way. Every bound of the contract on what clients send is here. */
import { object, type Properties } from '../../../domain/shared/index.js';

/** Messages that a client may send in a second. */
export const PER_SECOND = 200;
/** After blanks around it were taken off. */
export const NAME_LENGTH = 50;
/** The same of a reaction. */
export const REACTION_LENGTH = 8;

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const count = { type: 'integer', minimum: 0 } as const;
const time = { type: 'number', description: 'Unix milliseconds' } as const;
/** What people or things are known by: as long as any of ours, and as many that clients make. */
const id = { type: 'string', maxLength: 200 } as const;

/** Whatever else is in it is passed on. */
const open = { patternProperties: { '': {} } } as const;

/** The sender is known by the socket, and so is the room once they are in it: what they say of that counts nothing. */
const base = { roomId: text, participantId: text, timestamp: time } as const;

const says = <const Needed extends Properties, const Optional extends Properties = Record<never, never>>(
  needed: Needed,
  optional?: Optional,
) => object(needed, { ...base, ...optional } as typeof base & Optional);

const nothing = says({});

/** To one other, as it is sent. */
const signal = <const Needed extends Properties>(needed: Needed) =>
  ({ ...says({ targetId: text, ...needed }), ...open }) as const;

const candidate = {
  ...object(
    { candidate: text },
    { sdpMid: { type: ['string', 'null'] }, sdpMLineIndex: { type: ['integer', 'null'] } },
  ),
  ...open,
} as const;

/** As text, or as browsers hold it (`RTCSessionDescription`). */
const description = { type: ['string', 'object'], ...open } as const;

/** What people tell each other and nobody keeps. */
export const signals = {
  offer: signal({ sdp: description }),
  answer: signal({ sdp: description }),
  'ice-candidate': signal({ candidate }),
  'file-offer': signal({ transferId: text, fileName: text, fileSize: count, fileType: text }),
  'file-answer': signal({ transferId: text, accepted: flag }),
  'file-chunk': signal({
    transferId: text,
    chunk: { type: 'string', maxLength: 64 * 1024, description: 'base64' },
    index: count,
    total: count,
  }),
} as const;

export const clientSays = {
  join: {
    ...object(
      { roomId: text, name: { type: 'string', description: `1 to ${NAME_LENGTH} characters` } },
      {
        ...base,
        password: text,
        isHost: flag,
        creatorToken: text,
        resumeToken: {
          type: 'string',
          description: 'With `participantId`: comes back as who they were, when their connection has broken',
        },
      },
    ),
  },
  leave: nothing,
  ...signals,
  chat: says({ text: { type: 'string', minLength: 1, maxLength: 2000 } }, { replyTo: id }),
  reaction: says({
    reaction: {
      type: 'string',
      // Blanks around it do not count: more of them than this nobody sends.
      maxLength: 100,
      description: `\`thumb\`, \`clap\`, \`party\`, \`heart\`, \`laugh\`, or up to ${REACTION_LENGTH} characters`,
    },
  }),
  'participant-updated': says({}, { isMuted: flag, isVideoOff: flag, isHandRaised: flag }),
  'raise-hand': nothing,
  'lower-hand': nothing,
  'recording-started': says({}, { startedBy: text }),
  'recording-stopped': says({}, { stoppedBy: text }),
  'moderator-action': says({
    targetId: text,
    action: { type: 'string', enum: ['mute', 'unmute', 'kick', 'make-moderator'] },
  }),
  'room-locked': nothing,
  'room-unlocked': nothing,
  'admit-user': says({ targetId: text }),
  'reject-user': says({ targetId: text, reason: { type: 'string', maxLength: 200 } }),
} as const;

const hears = (needed: Properties, optional?: Properties) =>
  object({ roomId: text, participantId: text, timestamp: time, ...needed }, optional);

const shown = { isModerator: flag, isMuted: flag, isVideoOff: flag } as const;
const own = {
  resumeToken: { type: 'string', description: 'Only to whom it is about, for when their connection breaks' },
} as const;

const connection = {
  type: 'string',
  enum: ['ok', 'lost'],
  description:
    '`lost`: the connection broke, and the place is held for a while; `ok`: it is back. Absent where neither is so',
} as const;

export const serverSays = {
  'participant-joined': hears({ name: text, ...shown }, own),
  'participant-left': hears({}),
  'participant-updated': hears({ ...shown, isHandRaised: flag }, { connection }),
  'waiting-room': hears({ name: text }, own),
  'raise-hand': hears({}),
  'lower-hand': hears({}),
  'room-locked': hears({ lockedBy: text }),
  'room-unlocked': hears({ unlockedBy: text }),
  'recording-started': hears({ startedBy: text }),
  'recording-stopped': hears({ stoppedBy: text }),
  'moderator-action': hears({ targetId: text, action: text }),
  'reject-user': hears({ targetId: text, reason: text }),
  chat: hears({ name: text, text, messageId: text }, { replyTo: text }),
  reaction: hears({ reaction: text }),
  ...signals,
  error: hears({
    code: {
      type: 'string',
      enum: [
        'ROOM_FULL',
        'INVALID_PASSWORD',
        'ROOM_NOT_FOUND',
        'UNAUTHORIZED',
        'NOT_JOINED',
        'TARGET_NOT_FOUND',
        'INVALID_MESSAGE',
        'UNKNOWN_MESSAGE_TYPE',
      ],
    },
    message: text,
  }),
} as const;
