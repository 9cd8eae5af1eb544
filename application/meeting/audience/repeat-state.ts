/** Notifications for a command that changed nothing: the contract requires the same messages as for a change. */
import type { RoomEvent } from '../../../domain/meeting/catalog.js';
import type { ParticipantCommand } from '../../../domain/meeting/commands.js';
import { initialState, type Person, personOf, type RoomState } from '../../../domain/meeting/state.js';
import type { RevealedEvent } from '../../ports/index.js';
import type { Audience, Delivery } from '../../subscription/index.js';
import type { Rooms } from './audience.js';

type Type = ParticipantCommand['type'];

/** The event a command would have caused. Admitting or rejecting a person outside the waiting list notifies no one. */
const EVENT_OF_COMMAND: { readonly [type in Type]?: RoomEvent['type'] } = {
  UpdateOneself: 'ParticipantUpdated',
  RaiseHand: 'HandRaised',
  LowerHand: 'HandLowered',
  LockRoom: 'RoomLocked',
  UnlockRoom: 'RoomUnlocked',
  StartRecording: 'RecordingStarted',
  StopRecording: 'RecordingStopped',
  MuteParticipant: 'ParticipantMuted',
  UnmuteParticipant: 'ParticipantUnmuted',
  PromoteParticipant: 'ParticipantPromoted',
};

/** A command that repeats the current state, and its time in Unix ms. */
export interface RepeatedCommand {
  readonly type: Type;
  readonly roomId: string;
  readonly by: string;
  readonly participantId?: string;
  readonly at: number;
}

/** Checks that the state still matches, for commands with messages that do not contain it. */
const STATE_CHECKS: { readonly [type in Type]?: (room: RoomState, person: Person | undefined) => boolean } = {
  RaiseHand: (_, person) => person?.isHandRaised === true,
  LowerHand: (_, person) => person?.isHandRaised === false,
  LockRoom: ({ lockedBy }) => lockedBy !== undefined,
  UnlockRoom: ({ lockedBy }) => lockedBy === undefined,
  StartRecording: ({ recordingBy }) => recordingBy !== undefined,
  StopRecording: ({ recordingBy }) => recordingBy === undefined,
  MuteParticipant: (_, person) => person?.isMuted === true,
  UnmuteParticipant: (_, person) => person?.isMuted === false,
  PromoteParticipant: (_, person) => person?.isModerator === true,
};

/**
 * Returns the deliveries the command would have caused; none if the state has changed meanwhile. Does not modify
 * `rooms`.
 */
export function repeatDeliveries(
  { on }: Pick<Audience<Rooms, RoomEvent>, 'on'>,
  rooms: Rooms,
  { type, roomId, by, participantId = by, at }: RepeatedCommand,
): readonly Delivery[] {
  const event = EVENT_OF_COMMAND[type];
  const room = rooms.get(roomId);
  const isCurrent = STATE_CHECKS[type]?.(room ?? initialState, room && personOf(room, participantId)) ?? true;
  if (!event || !room || !isCurrent) return [];
  const syntheticEvent = { type: event, recordedAt: at, data: { roomId, by, participantId } };
  const deliver = on[event].deliver as
    | ((event: RevealedEvent, after: Rooms, before: Rooms) => readonly Delivery[])
    | undefined;
  const deliveries = deliver?.(syntheticEvent as unknown as RevealedEvent, rooms, rooms) ?? [];
  // A moderator received the waiting list when they became one.
  return deliveries.filter(({ message }) => message.type !== 'waiting-room');
}

/**
 * Checks that a message relayed from another node still matches the current state. If not, it would undo a newer
 * change that recipients have already received.
 */
export const isStillCurrent = (
  audience: Pick<Audience<Rooms, RoomEvent>, 'on'>,
  rooms: Rooms,
  repeated: RepeatedCommand,
  { to: id, json }: { readonly to: string; readonly json: string },
): boolean =>
  repeatDeliveries(audience, rooms, repeated).some(
    ({ to, message }) => to.includes(id) && JSON.stringify(message) === json,
  );
