/** What people are told of a command that changes nothing: the same as if it had, since they are promised to hear of each. */
import type { RevealedEvent } from '../../../application/ports.js';
import type { RoomEvent } from '../../../domain/meeting/catalog.js';
import type { InsideCommand } from '../../../domain/meeting/inside.js';
import type { Audience, Delivery } from '../audience.js';

type Type = InsideCommand['type'];

/** What it would have come to; of who does not wait there is nothing to tell. */
const EVENTS: { readonly [type in Type]?: RoomEvent['type'] } = {
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

export interface Repeated {
  readonly type: Type;
  readonly roomId: string;
  readonly by: string;
  readonly participantId?: string;
}

/** `rooms` is the audience's state, which stays as it is. */
export function echoOf<Rooms>(
  { on }: Pick<Audience<Rooms, RoomEvent>, 'on'>,
  rooms: Rooms,
  { type, roomId, by, participantId = by }: Repeated,
  at: number,
): readonly Delivery[] {
  const event = EVENTS[type];
  if (!event) return [];
  const told = { type: event, recordedAt: at, data: { roomId, by, participantId } };
  const deliver = on[event].deliver as
    | ((event: RevealedEvent, after: Rooms, before: Rooms) => readonly Delivery[])
    | undefined;
  return deliver?.(told as unknown as RevealedEvent, rooms, rooms) ?? [];
}
