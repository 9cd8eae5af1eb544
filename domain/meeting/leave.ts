/** Rules for leaving a room, losing a connection, ending and erasing meetings. */
import type { RoomEvent } from './catalog.js';
import type { Command } from './commands.js';
import { admitUpToCapacity } from './join.js';
import { applyEvents, isExpired, personOf, type RoomState } from './state.js';

/** Ended meetings without a creator token that are kept per room id; the oldest beyond are erased. */
export const MAX_READABLE = 100;
/**
 * Events those meetings may have together; beyond, the oldest are erased, so that the stream stays within its
 * limit (`room.ts`).
 */
export const MAX_READABLE_EVENTS = 5000;

/** Adds the effects of departures: another moderator is promoted, waiting people are admitted, or the meeting ends. */
export function withDepartureEffects(
  roomId: string,
  state: RoomState,
  departures: readonly RoomEvent[],
  now: number,
): readonly RoomEvent[] {
  const stateAfter = applyEvents(state, departures);
  const { meetingId, people, isPreCreated } = stateAfter;
  if (people.length === state.people.length) return departures;
  // Promotes the connected person who joined first; a disconnected one can't moderate.
  const successor = people.find(({ isDisconnected }) => !isDisconnected) ?? people[0];
  if (successor) {
    if (people.some(({ isModerator }) => isModerator)) return departures;
    const promoted = { roomId, meetingId, participantId: successor.id, promotedAt: now };
    return [...departures, { type: 'ParticipantPromoted', data: promoted }];
  }
  return [
    ...departures,
    ...(isPreCreated ? admitUpToCapacity(roomId, stateAfter, now) : end({ roomId, now }, stateAfter)),
  ];
}

/**
 * Erases the oldest meetings without a creator token. Rooms opened by joining can be reopened endlessly, so their
 * history is bounded.
 */
function eraseSurplus(roomId: string, { readable }: RoomState, now: number): readonly RoomEvent[] {
  const withoutCreator = readable.filter(({ creatorHash }) => creatorHash === undefined);
  let eventCount = 0;
  // Counts from the newest meeting backwards.
  const lastSurplus = withoutCreator.findLastIndex((each, index) => {
    eventCount += each.facts;
    return eventCount > MAX_READABLE_EVENTS || withoutCreator.length - index > MAX_READABLE;
  });
  return withoutCreator.slice(0, lastSurplus + 1).map((each) => erasedEvent(roomId, each.meetingId, now));
}

const erasedEvent = (roomId: string, meetingId: string, now: number): RoomEvent<'MeetingErased'> => ({
  type: 'MeetingErased',
  data: { roomId, meetingId, erasedAt: now },
});

const endedEvent = (roomId: string, meetingId: string, now: number): RoomEvent<'RoomEnded'> => ({
  type: 'RoomEnded',
  data: { roomId, meetingId, endedAt: now },
});

export function leave(
  { roomId, participantId, seat, hasTimedOut, now }: Command<'LeaveRoom'>,
  state: RoomState,
): readonly RoomEvent[] {
  const { meetingId } = state;
  const reason = hasTimedOut ? DISCONNECTED : {};
  if (personOf(state, participantId)?.seat === seat)
    return withDepartureEffects(roomId, state, [leftEvent(roomId, meetingId, participantId, now, reason)], now);
  const isWaiting = state.waiting.some((each) => each.id === participantId && each.seat === seat);
  return isWaiting ? [withdrawnEvent(roomId, meetingId, participantId, now, reason)] : [];
}

export function loseConnection({ roomId, where, now }: Command<'LoseConnection'>, state: RoomState): RoomEvent[] {
  const { meetingId, people, waiting } = state;
  return [...people, ...waiting]
    .filter((each) => ('seat' in where ? each.seat === where.seat : each.node === where.node))
    .filter(({ isDisconnected }) => !isDisconnected)
    .map(({ id, seat }) => ({
      type: 'ConnectionLost',
      data: { roomId, meetingId, participantId: id, seat, lostAt: now },
    }));
}

export function removePeopleOfNode(
  { roomId, node, now }: Command<'RemovePeopleOfNode'>,
  state: RoomState,
): readonly RoomEvent[] {
  const { meetingId, people, waiting } = state;
  const atNode = <Each extends { readonly node: string }>(all: readonly Each[]) =>
    all.filter((each) => each.node === node);
  // Remove waiting people first, so that none of them is admitted.
  const departures = [
    ...atNode(waiting).map(({ id }) => withdrawnEvent(roomId, meetingId, id, now, DISCONNECTED)),
    ...atNode(people).map(({ id }) => leftEvent(roomId, meetingId, id, now, DISCONNECTED)),
  ];
  return withDepartureEffects(roomId, state, departures, now);
}

const DISCONNECTED = { isLost: true } as const;

const leftEvent = (
  roomId: string,
  meetingId: string,
  participantId: string,
  now: number,
  reason: Partial<typeof DISCONNECTED> = {},
): RoomEvent<'ParticipantLeft'> => ({
  type: 'ParticipantLeft',
  data: { roomId, meetingId, participantId, leftAt: now, ...reason },
});

const withdrawnEvent = (
  roomId: string,
  meetingId: string,
  participantId: string,
  now: number,
  reason: Partial<typeof DISCONNECTED> = {},
): RoomEvent<'EntryWithdrawn'> => ({
  type: 'EntryWithdrawn',
  data: { roomId, meetingId, participantId, withdrawnAt: now, ...reason },
});

export function end(
  { roomId, now }: Pick<Command<'EndRoom'>, 'roomId' | 'now'>,
  state: RoomState,
): readonly RoomEvent[] {
  if (!isExpired(state, now)) return [];
  const roomEnded = endedEvent(roomId, state.meetingId, now);
  return [roomEnded, ...eraseSurplus(roomId, applyEvents(state, [roomEnded]), now)];
}

export const erase = (
  { roomId, meetingId, now }: Command<'EraseMeeting'>,
  { readable }: RoomState,
): readonly RoomEvent[] =>
  readable.some((each) => each.meetingId === meetingId) ? [erasedEvent(roomId, meetingId, now)] : [];
