/** What people are told of a command that changes nothing: the same as if it had, since they are promised to hear of each. */
import type { RoomEvent } from '../../../domain/meeting/catalog.js';
import type { ParticipantCommand } from '../../../domain/meeting/participant-actions.js';
import { initialState, type Person, personOf, type RoomState } from '../../../domain/meeting/state.js';
import type { RevealedEvent } from '../../ports/index.js';
import type { Audience, Delivery } from '../../subscription/index.js';
import type { Rooms } from './audience.js';

type Type = ParticipantCommand['type'];

/** What it would have come to; of who does not wait there is nothing to tell. */
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

/** Who does again what is so, and when (Unix ms). */
export interface Repeated {
  readonly type: Type;
  readonly roomId: string;
  readonly by: string;
  readonly participantId?: string;
  readonly at: number;
}

/** Of what the messages do not say themselves: whether it is so. */
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

/** `rooms` is the audience's state, which stays as it is; nothing where it is not so by then. */
export function repeatDeliveries(
  { on }: Pick<Audience<Rooms, RoomEvent>, 'on'>,
  rooms: Rooms,
  { type, roomId, by, participantId = by, at }: Repeated,
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
  // Who waits was told when they became a moderator.
  return deliveries.filter(({ message }) => message.type !== 'waiting-room');
}

/**
 * Whether a message that repeats this, on its way while the log went on, is still what it would come to: what has changed
 * since was told already, and would be taken back by it.
 */
export const isStillSo = (
  audience: Pick<Audience<Rooms, RoomEvent>, 'on'>,
  rooms: Rooms,
  repeated: Repeated,
  { to: id, json }: { readonly to: string; readonly json: string },
): boolean =>
  repeatDeliveries(audience, rooms, repeated).some(
    ({ to, message }) => to.includes(id) && JSON.stringify(message) === json,
  );
