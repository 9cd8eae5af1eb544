/** What people say to all: appended together with what others say at that moment, and told once it is flushed. */
import type { SaidEvent } from '../../domain/meeting/catalog.js';
import { notJoined } from '../../domain/meeting/entering.js';
import { personOf, type RoomState } from '../../domain/meeting/state.js';
import { type Saying, talkStream } from '../../domain/meeting/talk.js';
import type { Rejection } from '../../domain/shared/decider.js';
import type { Appender } from '../command/appender.js';
import { newEvent } from '../command/new-event.js';
import type { Clock, CommandContext, EventLog, Position } from '../ports.js';

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
interface Book {
  readonly stream: string;
  /** It says how long it keeps what it holds, and nothing more goes into the one before. */
  readonly ready: Promise<unknown>;
  readonly pending: Set<Promise<unknown>>;
}

/**
 * Resolves when it is flushed: in order with what the same person said before, whatever hour it is by now. Rejects with
 * `Unavailable`. Refused where they are not inside.
 */
export type Say = (
  make: (saying: Saying) => SaidEvent,
  context: CommandContext,
) => Promise<Position> | Rejection;

export type Talk = ReturnType<typeof createTalk>;

export function createTalk(ports: TalkPorts) {
  const { log, appender, clock, node, release, retentionSeconds, room } = ports;
  const origin = { service: 'meeting', release };
  let book: Book | undefined;

  function open(at: number): Book {
    const stream = talkStream(node, at);
    if (book?.stream === stream) return book;
    const ready = Promise.allSettled(book?.pending ?? []).then(() =>
      log.retain(stream, { maxAgeSeconds: retentionSeconds }),
    );
    const opened: Book = { stream, ready, pending: new Set() };
    ready.catch(() => {
      if (book === opened) book = undefined;
    });
    book = opened;
    return opened;
  }

  /** Of somebody at one seat. */
  function speaker({ roomId, participantId }: Speaker): Say {
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
    const appended = ready.then(() => appender.append(stream, [{ event, bytes }]));
    pending.add(appended);
    const over = () => void pending.delete(appended);
    appended.then(over, over);
    return appended;
  }

  return { speaker };
}
