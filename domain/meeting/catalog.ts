/** Every event of the meeting service: its versions, schemas, and what of it is sealed under the meeting's key. */
import { type Catalog, type EventOf, event, object, type Properties } from '../shared/index.js';

/**
 * The subject whose key seals who was in a meeting and what was said there. A room is known by its id, which may be
 * used again: what happens in it from its opening to its end is one meeting.
 */
export const meetingSubject = ({ meetingId }: { readonly meetingId: string }): string => `meeting.meeting-${meetingId}`;

/** Whose name is erased. */
export const NAMELESS = 'Somebody';

const id = { type: 'string', minLength: 1 } as const;
const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const time = { type: 'integer', minimum: 0 } as const;
const count = { type: 'integer', minimum: 1 } as const;

/** An event of one meeting in a room. */
const inMeeting = <const Required extends Properties, const Optional extends Properties = Record<never, never>>(
  required: Required,
  optional?: Optional,
) => object({ roomId: id, meetingId: id, ...required }, optional);

/** Where a person is connected: which node, over which of its sockets; `caller` is a keyed digest of their network and folded name. */
const connected = { node: id, seat: id } as const;
const named = { sealed: { subject: meetingSubject, erased: { name: NAMELESS } } } as const;

export const catalog = {
  service: 'meeting',
  events: {
    /** Under a key: by it the key is known, whichever room it is used for. */
    RoomRequested: event(inMeeting({ requestedAt: time })),
    RoomOpened: event(
      inMeeting(
        { openedAt: time, isPreCreated: flag, maxParticipants: count, secret: object({}, { title: text }) },
        // `caller`: a keyed digest of the address of whoever made it before anybody came. `returnMs`: how long a place
        // is held for a lost connection; absent where it is not.
        {
          creatorHash: id,
          passwordHash: id,
          scheduledStart: time,
          scheduledEnd: time,
          caller: id,
          returnMs: time,
        },
      ),
      { sealed: { subject: meetingSubject, erased: {} } },
    ),
    ParticipantJoined: event(
      inMeeting({
        participantId: id,
        joinedAt: time,
        isModerator: flag,
        caller: id,
        ...connected,
        secret: object({ name: id }),
      }),
      named,
    ),
    /** The room is locked, or they were sent away a moment ago: a moderator decides. */
    EntryRequested: event(
      inMeeting(
        {
          participantId: id,
          requestedAt: time,
          caller: id,
          ...connected,
          secret: object({ name: id }),
        },
        // The participant they proved to have been, where that one was kicked.
        { formerId: id },
      ),
      named,
    ),
    /** `by` nobody where the room is not locked and a seat is free. */
    EntryGranted: event(inMeeting({ participantId: id, grantedAt: time, isModerator: flag }, { by: id })),
    EntryRefused: event(inMeeting({ participantId: id, refusedAt: time, by: id, secret: object({ reason: text }) }), {
      sealed: { subject: meetingSubject, erased: { reason: '' } },
    }),
    /**
     * Who waited has gone. `isLost`: they did not choose to, but lost their connection or node and did not come back in
     * time; a socket that is still there, of a frozen node, is told to come back.
     */
    EntryWithdrawn: event(inMeeting({ participantId: id, withdrawnAt: time }, { isLost: flag })),
    /** Back at a place that was held: over another socket or node, or over a socket that was wrongly taken for lost. */
    ParticipantReturned: event(inMeeting({ participantId: id, returnedAt: time, ...connected })),
    /** The connection ended without a farewell, or its node is gone: the place is held for the room's `returnMs`. */
    ConnectionLost: event(inMeeting({ participantId: id, seat: id, lostAt: time })),
    /** Back after leaving, in time to be the same person; no place was held meanwhile. */
    ParticipantRejoined: event(inMeeting({ participantId: id, rejoinedAt: time, isModerator: flag, ...connected })),
    /** `isLost`: as above. */
    ParticipantLeft: event(inMeeting({ participantId: id, leftAt: time }, { isLost: flag })),
    ParticipantKicked: event(inMeeting({ participantId: id, kickedAt: time, by: id })),
    /** What they said of themselves. */
    ParticipantUpdated: event(
      inMeeting({
        participantId: id,
        updatedAt: time,
        isMuted: flag,
        isVideoOff: flag,
        isHandRaised: flag,
      }),
    ),
    HandRaised: event(inMeeting({ participantId: id, raisedAt: time })),
    HandLowered: event(inMeeting({ participantId: id, loweredAt: time })),
    ParticipantMuted: event(inMeeting({ participantId: id, mutedAt: time, by: id })),
    ParticipantUnmuted: event(inMeeting({ participantId: id, unmutedAt: time, by: id })),
    /** `by` nobody where the last moderator has left. */
    ParticipantPromoted: event(inMeeting({ participantId: id, promotedAt: time }, { by: id })),
    RoomLocked: event(inMeeting({ lockedAt: time, by: id })),
    RoomUnlocked: event(inMeeting({ unlockedAt: time, by: id })),
    RecordingStarted: event(inMeeting({ startedAt: time, by: id })),
    RecordingStopped: event(inMeeting({ stoppedAt: time, by: id })),
    RoomEnded: event(inMeeting({ endedAt: time })),
    /** So many offers, candidates and the like one node has relayed there, which are kept nowhere; for operators. */
    SignalRelayed: event(inMeeting({ count })),
    /** To all who are there. */
    ChatSent: event(inMeeting({ participantId: id, sentAt: time, secret: object({ text }, { replyTo: text }) }), {
      sealed: { subject: meetingSubject, erased: { text: '' }, once: true },
    }),
    ReactionSent: event(inMeeting({ participantId: id, sentAt: time, secret: object({ reaction: text }) }), {
      sealed: { subject: meetingSubject, erased: { reaction: '' }, once: true },
    }),
    /** Nobody can read any more who was there and what was said. */
    MeetingErased: event(inMeeting({ erasedAt: time }), { erases: meetingSubject }),
  },
} as const satisfies Catalog;

type Meeting = typeof catalog;

/** The events of meetings: all of them, or those that are named. */
export type MeetingEvent<Type extends keyof Meeting['events'] = keyof Meeting['events']> = EventOf<Meeting, Type>;

/** Those that no rule of a room is about: they stand apart from it, in the streams of what was said. */
export type ChatEvent = MeetingEvent<'ChatSent' | 'ReactionSent'>;

/** Neither is this one: it stands with others of its node. */
export type SignalEvent = MeetingEvent<'SignalRelayed'>;

/** Nor this one, which comes before there is a room. */
export type RequestEvent = MeetingEvent<'RoomRequested'>;

type NonRoomEventType = (ChatEvent | SignalEvent | RequestEvent)['type'];

/** Those of a room itself. */
export type RoomEvent<
  Type extends Exclude<MeetingEvent['type'], NonRoomEventType> = Exclude<MeetingEvent['type'], NonRoomEventType>,
> = MeetingEvent<Type>;
