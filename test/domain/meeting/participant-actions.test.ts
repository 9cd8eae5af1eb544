/** Actions in a meeting room and who may perform them. */
import { room } from '../../../domain/meeting/room.js';
import { specOf } from '../../support/decider-spec.js';
import {
  does,
  doesTo,
  happened,
  joined,
  kicked,
  locked,
  NOON,
  opened,
  promoted,
  requested,
  roomId,
} from '../../support/meeting-fixtures.js';

const { given } = specOf(room);
const both = [opened(), joined('ada', true), joined('bob')];
const update = (by: string, flags: object) => ({ type: 'UpdateOneself', roomId, by, now: NOON, ...flags }) as const;
const updated = (participantId: string, isMuted: boolean, isVideoOff: boolean, isHandRaised: boolean) =>
  happened('ParticipantUpdated', { participantId, updatedAt: NOON, isMuted, isVideoOff, isHandRaised });
const raised = happened('HandRaised', { participantId: 'bob', raisedAt: NOON });
const lowered = happened('HandLowered', { participantId: 'bob', loweredAt: NOON });
const muted = happened('ParticipantMuted', { participantId: 'bob', mutedAt: NOON, by: 'ada' });
const unmuted = happened('ParticipantUnmuted', { participantId: 'bob', unmutedAt: NOON, by: 'ada' });
const recording = happened('RecordingStarted', { startedAt: NOON, by: 'ada' });
const stopped = happened('RecordingStopped', { stoppedAt: NOON, by: 'ada' });

describe('in a meeting room', () => {
  it('participants only may act, not waiting users', () => {
    const commands = [
      update('eve', { isMuted: true }),
      ...(['RaiseHand', 'LowerHand', 'LockRoom', 'UnlockRoom', 'StartRecording', 'StopRecording'] as const).map(
        (type) => does('eve', type),
      ),
      doesTo('eve', 'KickParticipant', 'nobody'),
    ];
    for (const command of commands) {
      given(...both)
        .when(command)
        .thenRejected('meeting/not-joined');
      given(...both, locked('ada'), requested('eve'))
        .when(command)
        .thenRejected('meeting/not-joined');
    }
  });

  it('moderators only may lock, record, admit, reject and act on others, even if the target is absent', () => {
    const commands = [
      ...(['LockRoom', 'UnlockRoom', 'StartRecording', 'StopRecording'] as const).map((type) => does('bob', type)),
      ...(
        [
          'AdmitUser',
          'RejectUser',
          'MuteParticipant',
          'UnmuteParticipant',
          'KickParticipant',
          'PromoteParticipant',
        ] as const
      ).map((type) => ({ type, roomId, by: 'bob', participantId: 'nobody', reason: '', now: NOON }) as const),
    ];
    for (const command of commands)
      given(...both)
        .when(command)
        .thenRejected('meeting/not-a-moderator');
  });

  it('participants change the given flags of their own', () => {
    given(...both)
      .when(update('bob', { isMuted: true }))
      .then(updated('bob', true, false, false));
    given(...both, updated('bob', true, false, true))
      .when(update('bob', { isVideoOff: true, isHandRaised: false }))
      .then(updated('bob', true, true, false));
    given(...both, updated('bob', true, false, false))
      .when(update('bob', { isMuted: true }))
      .thenNothing();
    given(...both)
      .when(update('bob', {}))
      .thenNothing();
  });

  it('a hand is raised and lowered once', () => {
    given(...both)
      .when(does('bob', 'RaiseHand'))
      .then(raised);
    given(...both, raised)
      .when(does('bob', 'RaiseHand'))
      .thenNothing();
    given(...both, raised)
      .when(does('bob', 'LowerHand'))
      .then(lowered);
    given(...both, raised, lowered)
      .when(does('bob', 'LowerHand'))
      .thenNothing();
    given(...both, updated('bob', false, false, true))
      .when(does('bob', 'LowerHand'))
      .then(lowered);
  });

  it('moderators mute, unmute, promote and kick present participants', () => {
    given(...both)
      .when(doesTo('ada', 'MuteParticipant', 'bob'))
      .then(muted);
    given(...both, muted)
      .when(doesTo('ada', 'MuteParticipant', 'bob'))
      .thenNothing();
    given(...both, muted)
      .when(doesTo('ada', 'UnmuteParticipant', 'bob'))
      .then(unmuted);
    given(...both, muted, unmuted)
      .when(doesTo('ada', 'MuteParticipant', 'bob'))
      .then(muted);
    given(...both, muted)
      .when(update('bob', { isMuted: false }))
      .then(updated('bob', false, false, false));
    given(...both)
      .when(doesTo('ada', 'PromoteParticipant', 'bob'))
      .then(promoted('bob', 'ada'));
    given(...both)
      .when(doesTo('ada', 'PromoteParticipant', 'ada'))
      .thenNothing();
    given(...both, promoted('bob', 'ada'))
      .when(doesTo('bob', 'KickParticipant', 'ada'))
      .then(kicked('ada', 'bob'));
    for (const type of ['MuteParticipant', 'UnmuteParticipant', 'KickParticipant', 'PromoteParticipant'] as const)
      given(...both, locked('ada'), requested('cleo'))
        .when(doesTo('ada', type, 'cleo'))
        .thenRejected('meeting/target-not-found');
  });

  it('the room is locked and unlocked once', () => {
    given(...both)
      .when(does('ada', 'LockRoom'))
      .then(locked('ada'));
    given(...both, locked('ada'))
      .when(does('ada', 'LockRoom'))
      .thenNothing();
    given(...both)
      .when(does('ada', 'UnlockRoom'))
      .thenNothing();
  });

  it('a recording runs once, until it is stopped or its recorder leaves', () => {
    given(...both)
      .when(does('ada', 'StartRecording'))
      .then(recording);
    given(...both, recording)
      .when(does('ada', 'StartRecording'))
      .thenNothing();
    given(...both, recording)
      .when(does('ada', 'StopRecording'))
      .then(stopped);
    given(
      ...both,
      promoted('bob', 'ada'),
      recording,
      happened('ParticipantLeft', { participantId: 'ada', leftAt: NOON }),
    )
      .when(does('bob', 'StopRecording'))
      .thenNothing();
  });
});
