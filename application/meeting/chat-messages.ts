/** What people say to all: appended together with what others say at that moment, and told once it is flushed. */
import type { ChatEvent } from '../../domain/meeting/catalog.js';
import { notJoined } from '../../domain/meeting/join.js';
import { chatStream, type SpokenBy } from '../../domain/meeting/meeting-chat.js';
import { personOf, type RoomState } from '../../domain/meeting/state.js';
import type { Rejection } from '../../domain/shared/index.js';
import { type Appender, newEvent } from '../command/index.js';
import type { Clock, CommandContext, EventLog, Position } from '../ports/index.js';

export interface MeetingChatPorts {
  readonly log: Pick<EventLog, 'retain'>;
  readonly appender: Pick<Appender, 'append'>;
  readonly clock: Clock;
  /** The name of this node: nobody else writes to its streams. */
  readonly node: string;
  readonly release: string;
  readonly retentionSeconds: number;
  /** As it is known to be, of those that are open. */
  readonly room: (roomId: string) => RoomState | undefined;
}

export interface ParticipantRef {
  readonly roomId: string;
  readonly participantId: string;
}

/** One of the streams of what is said. */
interface HourStream {
  /** When its hour began. */
  readonly since: number;
  readonly stream: string;
  /** It says how long it keeps what it holds, and nothing more goes into the one before; undefined once that is so. */
  ready: Promise<unknown> | undefined;
  readonly pending: Set<Promise<unknown>>;
}

const HOUR_MS = 3_600_000;
/** With so much on its way into the log nobody says more before some of their own is there. */
const MAX_PENDING_BYTES = 32 * 1024 * 1024;
/** What a short message takes in memory besides its bytes, until it is in the log. */
const EVENT_OVERHEAD_BYTES = 1024;

/**
 * Resolves when it is flushed: in order with what the same person said before, whatever hour it is by now. Rejects with
 * `Unavailable`. Refused where they are not inside.
 */
export type Send = (make: (saying: SpokenBy) => ChatEvent, context: CommandContext) => Promise<Position> | Rejection;

export type MeetingChat = ReturnType<typeof createMeetingChat>;

export function createMeetingChat(ports: MeetingChatPorts) {
  const { log, appender, clock, node, release, retentionSeconds, room } = ports;
  const origin = { service: 'meeting', release };
  let currentStream: HourStream | undefined;
  let waiting = 0;

  function streamAt(at: number): HourStream {
    if (currentStream && at >= currentStream.since && at < currentStream.since + HOUR_MS) return currentStream;
    const previous = currentStream?.pending ?? [];
    const stream = chatStream(node, at);
    const ready = Promise.allSettled(previous).then(() => log.retain(stream, { maxAgeSeconds: retentionSeconds }));
    const next: HourStream = { since: at - (at % HOUR_MS), stream, ready, pending: new Set() };
    // Before those who wait for it go on: nobody overtakes them.
    ready.then(
      () => {
        next.ready = undefined;
      },
      () => {
        if (currentStream === next) currentStream = undefined;
      },
    );
    currentStream = next;
    return next;
  }

  /** Of somebody at one seat. */
  function createSender({ roomId, participantId }: ParticipantRef): Send {
    let lastSentAt = 0;
    return (make, context) => {
      const state = room(roomId);
      if (!state || !personOf(state, participantId)) return notJoined;
      // Messages are known by it: nobody says two things at one time, and time does not go back.
      lastSentAt = Math.max(clock.now(), lastSentAt + 1);
      return append(make({ roomId, meetingId: state.meetingId, participantId, sentAt: lastSentAt }), {
        ...context,
        actor: participantId,
      });
    };
  }

  function append(chatEvent: ChatEvent, context: CommandContext): Promise<Position> {
    const { stream, ready, pending } = streamAt(chatEvent.data.sentAt);
    const event = newEvent(origin, stream, chatEvent, 0, context);
    const bytes = Buffer.byteLength(JSON.stringify(chatEvent.data));
    const appendNow = () => appender.append(stream, [{ event, bytes }]);
    const appended = ready ? ready.then(appendNow) : appendNow();
    pending.add(appended);
    waiting += bytes + EVENT_OVERHEAD_BYTES;
    const settle = () => {
      pending.delete(appended);
      waiting -= bytes + EVENT_OVERHEAD_BYTES;
    };
    appended.then(settle, settle);
    return appended;
  }

  return {
    createSender,
    /** What is said and not in the log yet, in bytes of memory. */
    waiting: { name: 'meeting.talk', limit: MAX_PENDING_BYTES, used: () => waiting },
  };
}
