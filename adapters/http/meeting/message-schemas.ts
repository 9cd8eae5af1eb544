/** JSON Schemas of all messages of the meeting WebSocket, with every limit the contract sets on client messages. */
import { object, type Properties } from '../../../domain/shared/index.js';

export const PER_SECOND = 200;
/** Maximum characters of a name after trimming. */
export const NAME_LENGTH = 50;
/** Maximum characters of a reaction after trimming. */
export const REACTION_LENGTH = 8;

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const count = { type: 'integer', minimum: 0 } as const;
const time = { type: 'number', description: 'Unix milliseconds' } as const;
/** Id of a participant or message. Clients may generate ids of their own, so the limit exceeds the length of ours. */
const id = { type: 'string', maxLength: 200 } as const;

/** Allows additional properties; they are relayed unchanged. */
const open = { patternProperties: { '': {} } } as const;

/** The server derives sender and room from the socket; values sent by the client are ignored. */
const base = { roomId: text, participantId: text, timestamp: time } as const;

const clientMessage = <const Required extends Properties, const Optional extends Properties = Record<never, never>>(
  required: Required,
  optional?: Optional,
) => object(required, { ...base, ...optional } as typeof base & Optional);

const noFields = clientMessage({});

/** A message relayed unchanged to one participant. */
const signal = <const Required extends Properties>(required: Required) =>
  ({ ...clientMessage({ targetId: text, ...required }), ...open }) as const;

const candidate = {
  ...object(
    { candidate: text },
    { sdpMid: { type: ['string', 'null'] }, sdpMLineIndex: { type: ['integer', 'null'] } },
  ),
  ...open,
} as const;

/** SDP as text or as a browser's `RTCSessionDescription`. */
const description = { type: ['string', 'object'], ...open } as const;

/** Messages relayed between participants and never stored. */
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

export const clientMessages = {
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
          description: 'With `participantId`: rejoins as the same participant after a lost connection',
        },
      },
    ),
  },
  leave: noFields,
  ...signals,
  chat: clientMessage({ text: { type: 'string', minLength: 1, maxLength: 2000 } }, { replyTo: id }),
  reaction: clientMessage({
    reaction: {
      type: 'string',
      // Bounds the input before it is trimmed.
      maxLength: 100,
      description: `\`thumb\`, \`clap\`, \`party\`, \`heart\`, \`laugh\`, or up to ${REACTION_LENGTH} characters`,
    },
  }),
  'participant-updated': clientMessage({}, { isMuted: flag, isVideoOff: flag, isHandRaised: flag }),
  'raise-hand': noFields,
  'lower-hand': noFields,
  'recording-started': clientMessage({}, { startedBy: text }),
  'recording-stopped': clientMessage({}, { stoppedBy: text }),
  'moderator-action': clientMessage({
    targetId: text,
    action: { type: 'string', enum: ['mute', 'unmute', 'kick', 'make-moderator'] },
  }),
  'room-locked': noFields,
  'room-unlocked': noFields,
  'admit-user': clientMessage({ targetId: text }),
  'reject-user': clientMessage({ targetId: text, reason: { type: 'string', maxLength: 200 } }),
} as const;

const serverMessage = (required: Properties, optional?: Properties) =>
  object({ roomId: text, participantId: text, timestamp: time, ...required }, optional);

const mediaFlags = { isModerator: flag, isMuted: flag, isVideoOff: flag } as const;
const ownFields = {
  resumeToken: {
    type: 'string',
    description: 'Only sent to the participant themselves; used to rejoin after a lost connection',
  },
} as const;

const connection = {
  type: 'string',
  enum: ['ok', 'lost'],
  description:
    '`lost`: disconnected, the participant keeps their place for a while; `ok`: reconnected; otherwise absent',
} as const;

export const serverMessages = {
  'participant-joined': serverMessage({ name: text, ...mediaFlags }, ownFields),
  'participant-left': serverMessage({}),
  'participant-updated': serverMessage({ ...mediaFlags, isHandRaised: flag }, { connection }),
  'waiting-room': serverMessage({ name: text }, ownFields),
  'raise-hand': serverMessage({}),
  'lower-hand': serverMessage({}),
  'room-locked': serverMessage({ lockedBy: text }),
  'room-unlocked': serverMessage({ unlockedBy: text }),
  'recording-started': serverMessage({ startedBy: text }),
  'recording-stopped': serverMessage({ stoppedBy: text }),
  'moderator-action': serverMessage({ targetId: text, action: text }),
  'reject-user': serverMessage({ targetId: text, reason: text }),
  chat: serverMessage({ name: text, text, messageId: text }, { replyTo: text }),
  reaction: serverMessage({ reaction: text }),
  ...signals,
  error: serverMessage({
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
