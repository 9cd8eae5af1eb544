/** Event catalog of the meeting service: versions, schemas, and which fields are encrypted with the meeting's key. */
import {
  type Catalog,
  type EventOf,
  event,
  flag,
  id,
  object,
  type Properties,
  requestEvents,
  text,
  time,
} from '../shared/index.js';

/**
 * Subject of the key that encrypts names and messages of a meeting. A room id may be reused; a meeting lasts from
 * the room's opening to its end.
 */
export const meetingSubject = ({ meetingId }: { readonly meetingId: string }): string => `meeting.meeting-${meetingId}`;

/** Replaces an erased name. */
export const NAMELESS = 'Somebody';

const count = { type: 'integer', minimum: 1 } as const;

/** Schema of an event of one meeting in a room. */
const inMeeting = <const Required extends Properties, const Optional extends Properties = Record<never, never>>(
  required: Required,
  optional?: Optional,
) => object({ roomId: id, meetingId: id, ...required }, optional);

/** The node and the socket (`seat`) of a participant. `caller`: keyed digest of their network and folded name. */
const connected = { node: id, seat: id } as const;
const named = { sealed: { subject: meetingSubject, erased: { name: NAMELESS } } } as const;

export const catalog = {
  service: 'meeting',
  events: {
    ...requestEvents,
    RoomOpened: event(
      inMeeting(
        { openedAt: time, isPreCreated: flag, maxParticipants: count, secret: object({}, { title: text }) },
        // `caller`: keyed digest of the network that created the room in advance. `returnMs`: milliseconds a
        // disconnected participant keeps their place; absent if they do not.
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
    /** The room is locked, or the person was kicked recently: a moderator decides. */
    EntryRequested: event(
      inMeeting(
        {
          participantId: id,
          requestedAt: time,
          caller: id,
          ...connected,
          secret: object({ name: id }),
        },
        // The earlier participant they proved to be, if that one was kicked.
        { formerId: id },
      ),
      named,
    ),
    /** `by` is absent if the person was admitted automatically, to an unlocked room with capacity. */
    EntryGranted: event(inMeeting({ participantId: id, grantedAt: time, isModerator: flag }, { by: id })),
    EntryRefused: event(inMeeting({ participantId: id, refusedAt: time, by: id, secret: object({ reason: text }) }), {
      sealed: { subject: meetingSubject, erased: { reason: '' } },
    }),
    /**
     * A waiting person left. `isLost`: involuntarily, because their connection or node failed and they did not
     * reconnect in time. If the node was only frozen, its open socket has to reconnect.
     */
    EntryWithdrawn: event(inMeeting({ participantId: id, withdrawnAt: time }, { isLost: flag })),
    /**
     * Reconnected within the grace period, over another socket or node, or over a socket that was falsely marked
     * as lost.
     */
    ParticipantReturned: event(inMeeting({ participantId: id, returnedAt: time, ...connected })),
    /**
     * The connection ended without a close frame, or its node died. The participant keeps their place for the
     * room's `returnMs`.
     */
    ConnectionLost: event(inMeeting({ participantId: id, seat: id, lostAt: time })),
    /** Rejoined as the same participant after leaving; the place was not kept meanwhile. */
    ParticipantRejoined: event(inMeeting({ participantId: id, rejoinedAt: time, isModerator: flag, ...connected })),
    /** `isLost`: as in `EntryWithdrawn`. */
    ParticipantLeft: event(inMeeting({ participantId: id, leftAt: time }, { isLost: flag })),
    ParticipantKicked: event(inMeeting({ participantId: id, kickedAt: time, by: id })),
    /** The participant's own changes. */
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
    /** `by` is absent if the last moderator has left. */
    ParticipantPromoted: event(inMeeting({ participantId: id, promotedAt: time }, { by: id })),
    RoomLocked: event(inMeeting({ lockedAt: time, by: id })),
    RoomUnlocked: event(inMeeting({ unlockedAt: time, by: id })),
    RecordingStarted: event(inMeeting({ startedAt: time, by: id })),
    RecordingStopped: event(inMeeting({ stoppedAt: time, by: id })),
    RoomEnded: event(inMeeting({ endedAt: time })),
    /** Number of signals a node has relayed in a meeting since its last count; for operators. */
    SignalRelayed: event(inMeeting({ count })),
    /** Sent to everyone in the room. */
    ChatSent: event(inMeeting({ participantId: id, sentAt: time, secret: object({ text }, { replyTo: text }) }), {
      sealed: { subject: meetingSubject, erased: { text: '' }, once: true },
    }),
    ReactionSent: event(inMeeting({ participantId: id, sentAt: time, secret: object({ reaction: text }) }), {
      sealed: { subject: meetingSubject, erased: { reaction: '' }, once: true },
    }),
    /** Names and messages of the meeting can't be decrypted any more. */
    MeetingErased: event(inMeeting({ erasedAt: time }), { erases: meetingSubject }),
  },
} as const satisfies Catalog;

type Meeting = typeof catalog;

/** Events of the meeting service: all, or those of the given types. */
export type MeetingEvent<Type extends keyof Meeting['events'] = keyof Meeting['events']> = EventOf<Meeting, Type>;

/** Events in the chat streams; no rule of a room depends on them. */
export type ChatEvent = MeetingEvent<'ChatSent' | 'ReactionSent'>;

/** Events in the signal count streams. */
export type SignalEvent = MeetingEvent<'SignalRelayed'>;

type NonRoomEventType = (ChatEvent | SignalEvent)['type'] | 'RequestRecorded';

/** Events in a room's stream. */
export type RoomEvent<
  Type extends Exclude<MeetingEvent['type'], NonRoomEventType> = Exclude<MeetingEvent['type'], NonRoomEventType>,
> = MeetingEvent<Type>;
