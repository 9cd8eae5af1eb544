/** What people say to all: appended together with what others say at that moment, and told once it is flushed. */
import type { SaidEvent } from '../../domain/meeting/catalog.js';
import { notJoined } from '../../domain/meeting/join.js';
import { type SpokenBy, talkStream } from '../../domain/meeting/meeting-chat.js';
import { personOf, type RoomState } from '../../domain/meeting/state.js';
import type { Rejection } from '../../domain/shared/index.js';
import { type Appender, newEvent } from '../command/index.js';
import type { Clock, CommandContext, EventLog, Position } from '../ports/index.js';

export interface TalkPorts {
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

export interface Speaker {
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
const MOST_WAITING = 32 * 1024 * 1024;
/** What a short message takes in memory besides its bytes, until it is in the log. */
const OVERHEAD = 1024;

/**
 * Resolves when it is flushed: in order with what the same person said before, whatever hour it is by now. Rejects with
 * `Unavailable`. Refused where they are not inside.
 */
export type Send = (make: (saying: SpokenBy) => SaidEvent, context: CommandContext) => Promise<Position> | Rejection;

export type Talk = ReturnType<typeof createMeetingChat>;

export function createMeetingChat(ports: TalkPorts) {
  const { log, appender, clock, node, release, retentionSeconds, room } = ports;
  const origin = { service: 'meeting', release };
  let book: HourStream | undefined;
  let waiting = 0;

  function open(at: number): HourStream {
    if (book && at >= book.since && at < book.since + HOUR_MS) return book;
    const before = book?.pending ?? [];
    const stream = talkStream(node, at);
    const ready = Promise.allSettled(before).then(() => log.retain(stream, { maxAgeSeconds: retentionSeconds }));
    const opened: HourStream = { since: at - (at % HOUR_MS), stream, ready, pending: new Set() };
    // Before those who wait for it go on: nobody overtakes them.
    ready.then(
      () => {
        opened.ready = undefined;
      },
      () => {
        if (book === opened) book = undefined;
      },
    );
    book = opened;
    return opened;
  }

  /** Of somebody at one seat. */
  function speaker({ roomId, participantId }: Speaker): Send {
    let last = 0;
    return (make, context) => {
      const state = room(roomId);
      if (!state || !personOf(state, participantId)) return notJoined;
      // Messages are known by it: nobody says two things at one time, and time does not go back.
      last = Math.max(clock.now(), last + 1);
      return append(make({ roomId, meetingId: state.meetingId, participantId, sentAt: last }), {
        ...context,
        actor: participantId,
      });
    };
  }

  function append(said: SaidEvent, context: CommandContext): Promise<Position> {
    const { stream, ready, pending } = open(said.data.sentAt);
    const event = newEvent(origin, stream, said, 0, context);
    const bytes = Buffer.byteLength(JSON.stringify(said.data));
    const now = () => appender.append(stream, [{ event, bytes }]);
    const appended = ready ? ready.then(now) : now();
    pending.add(appended);
    waiting += bytes + OVERHEAD;
    const over = () => {
      pending.delete(appended);
      waiting -= bytes + OVERHEAD;
    };
    appended.then(over, over);
    return appended;
  }

  return {
    speaker,
    /** What is said and not in the log yet, in bytes of memory. */
    waiting: { name: 'meeting.talk', limit: MOST_WAITING, used: () => waiting },
  };
}
