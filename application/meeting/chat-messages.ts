/** Chat messages and reactions: appended in group commits, delivered to everyone once flushed. */

import type { ChatEvent } from '../../domain/meeting/catalog.js';
import { notJoined } from '../../domain/meeting/join.js';
import { chatStream, type SpokenBy } from '../../domain/meeting/meeting-chat.js';
import { personOf } from '../../domain/meeting/state.js';
import type { Rejection } from '../../domain/shared/index.js';
import { type Appender, newEvent } from '../command/index.js';
import type { Clock, CommandContext, EventLog, Position } from '../ports/index.js';
import type { Rooms } from './audience/snapshot.js';

export interface MeetingChatPorts {
  readonly log: Pick<EventLog, 'retain'>;
  readonly appender: Pick<Appender, 'append'>;
  readonly clock: Clock;
  /** Name of this node, which is the only writer of its chat streams. */
  readonly node: string;
  readonly release: string;
  readonly retentionSeconds: number;
  /** Returns the open rooms as the relay knows them. */
  readonly rooms: () => Pick<Rooms, 'get'>;
}

export interface ParticipantRef {
  readonly roomId: string;
  readonly participantId: string;
}

/** A chat stream holding one hour of messages. */
interface HourStream {
  /** Start of the hour, Unix ms. */
  readonly since: number;
  readonly stream: string;
  /**
   * Settles when the stream's retention is set and all appends to the previous stream are done; undefined from
   * then on.
   */
  ready: Promise<unknown> | undefined;
  readonly pending: Set<Promise<unknown>>;
}

const HOUR_MS = 3_600_000;
/** Bytes being written beyond which each sender waits for their own previous message. */
const MAX_PENDING_BYTES = 32 * 1024 * 1024;
/** Approximate memory of a pending event besides its payload, bytes. */
const EVENT_OVERHEAD_BYTES = 1024;

/**
 * Resolves when the event is flushed, in the sender's order even across streams. Throws `UnavailableError`.
 * Rejected if the sender is not in the room.
 */
export type Send = (make: (origin: SpokenBy) => ChatEvent, context: CommandContext) => Promise<Position> | Rejection;

export type MeetingChat = ReturnType<typeof createMeetingChat>;

export function createMeetingChat(ports: MeetingChatPorts) {
  const { log, appender, clock, node, release, retentionSeconds, rooms } = ports;
  const origin = { service: 'meeting', release };
  let currentStream: HourStream | undefined;
  let waiting = 0;

  function streamAt(at: number): HourStream {
    if (currentStream && at >= currentStream.since && at < currentStream.since + HOUR_MS) return currentStream;
    const previous = currentStream?.pending ?? [];
    const stream = chatStream(node, at);
    const ready = Promise.allSettled(previous).then(() => log.retain(stream, { maxAgeSeconds: retentionSeconds }));
    const next: HourStream = { since: at - (at % HOUR_MS), stream, ready, pending: new Set() };
    // Cleared before waiting appends continue, so that later ones cannot overtake them.
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

  /** Creates the sender of one participant. */
  function createSender({ roomId, participantId }: ParticipantRef): Send {
    let lastSentAt = 0;
    return (make, context) => {
      const state = rooms().get(roomId);
      if (!state || !personOf(state, participantId)) return notJoined;
      // Message ids derive from this time, so it strictly increases per sender.
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
    /** Memory of messages not yet in the log, bytes. */
    waiting: { name: 'meeting.talk', limit: MAX_PENDING_BYTES, used: () => waiting },
  };
}
