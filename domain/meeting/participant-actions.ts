/** Rules for participants' commands in a room: their own state, and moderation. */
import type { Rejection } from '../shared/index.js';
import type { RoomEvent } from './catalog.js';
import type { Command, ModeratorCommand, ParticipantCommand } from './commands.js';
import { notJoined, roomFull } from './join.js';
import { withDepartureEffects } from './leave.js';
import { isFull, type Person, personOf, type RoomState } from './state.js';

type Decision = readonly RoomEvent[] | Rejection;

const unauthorized: Rejection = { rejected: 'meeting/not-a-moderator', kind: 'forbidden' };
const targetNotFound: Rejection = { rejected: 'meeting/target-not-found', kind: 'not-found' };

/** Checks in the order of the contract: joined, moderator, target exists. */
export function decideParticipantAction(command: ParticipantCommand, state: RoomState): Decision {
  const person = personOf(state, command.by);
  if (!person) return notJoined;
  switch (command.type) {
    case 'UpdateOneself':
      return update(command, person, state);
    case 'RaiseHand':
    case 'LowerHand':
      return hand(command, person, state);
    default:
      return person.isModerator ? moderate(command, state) : unauthorized;
  }
}

function update(
  { roomId, now, ...changes }: Command<'UpdateOneself'>,
  person: Person,
  { meetingId }: RoomState,
): Decision {
  const { isMuted = person.isMuted, isVideoOff = person.isVideoOff } = changes;
  const { isHandRaised = person.isHandRaised } = changes;
  const isSame = isMuted === person.isMuted && isVideoOff === person.isVideoOff && isHandRaised === person.isHandRaised;
  if (isSame) return [];
  const data = { participantId: person.id, updatedAt: now, isMuted, isVideoOff, isHandRaised };
  return [{ type: 'ParticipantUpdated', data: { roomId, meetingId, ...data } }];
}

function hand(
  { type, roomId, by, now }: Command<'RaiseHand' | 'LowerHand'>,
  { isHandRaised }: Person,
  { meetingId }: RoomState,
): Decision {
  const data = { roomId, meetingId, participantId: by };
  if (type === 'RaiseHand') return isHandRaised ? [] : [{ type: 'HandRaised', data: { ...data, raisedAt: now } }];
  return isHandRaised ? [{ type: 'HandLowered', data: { ...data, loweredAt: now } }] : [];
}

function moderate(command: ModeratorCommand, state: RoomState): Decision {
  const { roomId, by, now } = command;
  const { meetingId, lockedBy, recordingBy } = state;
  const data = { roomId, meetingId, by };
  switch (command.type) {
    case 'LockRoom':
      return lockedBy ? [] : [{ type: 'RoomLocked', data: { ...data, lockedAt: now } }];
    case 'UnlockRoom':
      return lockedBy ? [{ type: 'RoomUnlocked', data: { ...data, unlockedAt: now } }] : [];
    case 'StartRecording':
      return recordingBy ? [] : [{ type: 'RecordingStarted', data: { ...data, startedAt: now } }];
    case 'StopRecording':
      return recordingBy ? [{ type: 'RecordingStopped', data: { ...data, stoppedAt: now } }] : [];
    case 'AdmitUser':
      return admit(command, state);
    case 'RejectUser':
      return reject(command, state);
    default:
      return act(command, state);
  }
}

function admit({ roomId, by, participantId, now }: Command<'AdmitUser'>, state: RoomState): Decision {
  const { meetingId, waiting } = state;
  if (!waiting.some(({ id }) => id === participantId)) return [];
  if (isFull(state)) return roomFull;
  const data = { roomId, meetingId, participantId, grantedAt: now, isModerator: false, by };
  return [{ type: 'EntryGranted', data }];
}

function reject(
  { roomId, by, participantId, reason, now }: Command<'RejectUser'>,
  { meetingId, waiting }: RoomState,
): Decision {
  if (!waiting.some(({ id }) => id === participantId)) return [];
  const data = { roomId, meetingId, participantId, refusedAt: now, by, secret: { reason } };
  return [{ type: 'EntryRefused', data }];
}

function act(
  command: Command<'MuteParticipant' | 'UnmuteParticipant' | 'KickParticipant' | 'PromoteParticipant'>,
  state: RoomState,
): Decision {
  const { roomId, by, participantId, now } = command;
  const target = personOf(state, participantId);
  if (!target) return targetNotFound;
  const { meetingId } = state;
  const data = { roomId, meetingId, participantId, by };
  switch (command.type) {
    case 'MuteParticipant':
      return target.isMuted ? [] : [{ type: 'ParticipantMuted', data: { ...data, mutedAt: now } }];
    case 'UnmuteParticipant':
      return target.isMuted ? [{ type: 'ParticipantUnmuted', data: { ...data, unmutedAt: now } }] : [];
    case 'PromoteParticipant':
      return target.isModerator ? [] : [{ type: 'ParticipantPromoted', data: { ...data, promotedAt: now } }];
    case 'KickParticipant':
      return withDepartureEffects(
        roomId,
        state,
        [{ type: 'ParticipantKicked', data: { ...data, kickedAt: now } }],
        now,
      );
  }
}
