/** How people go from a meeting room, and what becomes of it then. */
import type { RoomEvent } from './catalog.js';
import { admitAll } from './join.js';
import { after, isOver, personOf, type RoomState } from './state.js';

/** Meetings under one id that nobody has a token of, and that are over: of more, the oldest are erased. */
export const MOST_READABLE = 100;
/** And where more than so much happened in all of them: the next one needs the room (`stream-limit.ts`). */
export const MOST_FACTS_READABLE = 5000;

/** `seat`: the socket that is gone, which may not be where they are by now. */
export interface LeaveRoom {
  readonly type: 'LeaveRoom';
  readonly roomId: string;
  readonly participantId: string;
  readonly seat: string;
  /** Their connection was lost, and they have not come back in time. */
  readonly isLost?: boolean | undefined;
  readonly now: number;
}

/** A connection, or all connections of a node, have ended without a close frame: their places are held for a while. */
export interface LoseConnection {
  readonly type: 'LoseConnection';
  readonly roomId: string;
  readonly where: { readonly seat: string } | { readonly node: string };
  readonly now: number;
}

/** All whose node is gone, and who have not come back in time, leave. */
export interface LoseNode {
  readonly type: 'LoseNode';
  readonly roomId: string;
  readonly node: string;
  readonly now: number;
}

export interface EndRoom {
  readonly type: 'EndRoom';
  readonly roomId: string;
  readonly now: number;
}

export interface EraseMeeting {
  readonly type: 'EraseMeeting';
  readonly roomId: string;
  readonly meetingId: string;
  readonly now: number;
}

/** What follows when people have gone: somebody else decides, or others come in, or the meeting is over. */
export function departing(
  roomId: string,
  state: RoomState,
  gone: readonly RoomEvent[],
  now: number,
): readonly RoomEvent[] {
  const left = after(state, gone);
  const { meetingId, people, isPreCreated } = left;
  if (people.length === state.people.length) return gone;
  // People are in order of joining; a lost connection cannot moderate.
  const longest = people.find(({ isLost }) => !isLost) ?? people[0];
  if (longest) {
    if (people.some(({ isModerator }) => isModerator)) return gone;
    const promoted = { roomId, meetingId, participantId: longest.id, promotedAt: now };
    return [...gone, { type: 'ParticipantPromoted', data: promoted }];
  }
  return [...gone, ...(isPreCreated ? admitAll(roomId, left, now) : end({ roomId, now }, left))];
}

/** Rooms that whoever comes makes can be made again and again: what is kept of each must not add up without end. */
function tooMany(roomId: string, { readable }: RoomState, now: number): readonly RoomEvent[] {
  const nobodys = readable.filter(({ creatorHash }) => creatorHash === undefined);
  let facts = 0;
  // Of the newest, as many as may be kept.
  const most = nobodys.findLastIndex((each, index) => {
    facts += each.facts;
    return facts > MOST_FACTS_READABLE || nobodys.length - index > MOST_READABLE;
  });
  return nobodys.slice(0, most + 1).map((each) => erased(roomId, each.meetingId, now));
}

const erased = (roomId: string, meetingId: string, now: number): RoomEvent<'MeetingErased'> => ({
  type: 'MeetingErased',
  data: { roomId, meetingId, erasedAt: now },
});

const ended = (roomId: string, meetingId: string, now: number): RoomEvent<'RoomEnded'> => ({
  type: 'RoomEnded',
  data: { roomId, meetingId, endedAt: now },
});

export function leave({ roomId, participantId, seat, isLost, now }: LeaveRoom, state: RoomState): readonly RoomEvent[] {
  const { meetingId } = state;
  const how = isLost ? LOST : {};
  if (personOf(state, participantId)?.seat === seat)
    return departing(roomId, state, [left(roomId, meetingId, participantId, now, how)], now);
  const waits = state.waiting.some((each) => each.id === participantId && each.seat === seat);
  return waits ? [withdrawn(roomId, meetingId, participantId, now, how)] : [];
}

export function loseConnection({ roomId, where, now }: LoseConnection, state: RoomState): RoomEvent[] {
  const { meetingId, people, waiting } = state;
  return [...people, ...waiting]
    .filter((each) => ('seat' in where ? each.seat === where.seat : each.node === where.node))
    .filter(({ isLost }) => !isLost)
    .map(({ id, seat }) => ({
      type: 'ConnectionLost',
      data: { roomId, meetingId, participantId: id, seat, lostAt: now },
    }));
}

export function loseNode({ roomId, node, now }: LoseNode, state: RoomState): readonly RoomEvent[] {
  const { meetingId, people, waiting } = state;
  const lost = <Each extends { readonly node: string }>(all: readonly Each[]) =>
    all.filter((each) => each.node === node);
  // First those who wait: nobody is let in who is not there.
  const gone = [
    ...lost(waiting).map(({ id }) => withdrawn(roomId, meetingId, id, now, LOST)),
    ...lost(people).map(({ id }) => left(roomId, meetingId, id, now, LOST)),
  ];
  return departing(roomId, state, gone, now);
}

const LOST = { isLost: true } as const;

const left = (
  roomId: string,
  meetingId: string,
  participantId: string,
  now: number,
  how: Partial<typeof LOST> = {},
): RoomEvent<'ParticipantLeft'> => ({
  type: 'ParticipantLeft',
  data: { roomId, meetingId, participantId, leftAt: now, ...how },
});

const withdrawn = (
  roomId: string,
  meetingId: string,
  participantId: string,
  now: number,
  how: Partial<typeof LOST> = {},
): RoomEvent<'EntryWithdrawn'> => ({
  type: 'EntryWithdrawn',
  data: { roomId, meetingId, participantId, withdrawnAt: now, ...how },
});

export function end({ roomId, now }: Pick<EndRoom, 'roomId' | 'now'>, state: RoomState): readonly RoomEvent[] {
  if (!isOver(state, now)) return [];
  const over = ended(roomId, state.meetingId, now);
  return [over, ...tooMany(roomId, after(state, [over]), now)];
}

export const erase = ({ roomId, meetingId, now }: EraseMeeting, { readable }: RoomState): readonly RoomEvent[] =>
  readable.some((each) => each.meetingId === meetingId) ? [erased(roomId, meetingId, now)] : [];
