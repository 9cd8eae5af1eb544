/** Opening and joining a meeting room. */
import { room } from '../../../domain/meeting/room.js';
import { specOf } from '../../support/decider-spec.js';
import {
  DAY,
  does,
  ended,
  HOUR,
  happened,
  hosted,
  hostRoom,
  joined,
  joinRoom,
  left,
  locked,
  NOON,
  opened,
  openRoom,
  people,
  promoted,
  requested,
  roomId,
} from '../../support/meeting-fixtures.js';

const { given } = specOf(room);
const ada = [opened(), joined('ada', true)];

describe('a meeting room', () => {
  describe('created in advance', () => {
    it('records the given options and no others', () => {
      given().when(openRoom()).then(opened());
      given()
        .when(
          openRoom({
            title: 'Plans',
            passwordHash: 'hash',
            maxParticipants: 2,
            scheduledStart: NOON + HOUR,
            scheduledEnd: NOON + 2 * HOUR,
          }),
        )
        .then(
          opened({
            passwordHash: 'hash',
            maxParticipants: 2,
            scheduledStart: NOON + HOUR,
            scheduledEnd: NOON + 2 * HOUR,
            secret: { title: 'Plans' },
          }),
        );
    });

    it('exists once', () => {
      given(opened()).when(openRoom()).thenRejected('meeting/room-exists');
      given(hosted, joined('ada', true)).when(openRoom()).thenRejected('meeting/room-exists');
    });

    it('can be created again after it ended', () => {
      given(opened(), ended()).when(openRoom()).then(opened());
    });
  });

  it('does not exist until it is created or a host joins', () => {
    given().when(joinRoom('ada')).thenRejected('meeting/room-not-found');
    given().when(hostRoom('ada')).then(hosted, joined('ada', true));
    const opening = { meetingId: 'first', maxParticipants: 8, passwordHash: 'hash' };
    given()
      .when(hostRoom('ada', { opening }))
      .then(
        happened('RoomOpened', {
          openedAt: NOON,
          isPreCreated: false,
          maxParticipants: 8,
          passwordHash: 'hash',
          secret: {},
        }),
        joined('ada', true),
      );
  });

  it('gives a host no role if other participants are present', () => {
    given(...ada)
      .when(hostRoom('bob'))
      .then(joined('bob'));
  });

  it('requires its password, even with the creator token', () => {
    const secured = opened({ passwordHash: 'hash' });
    given(secured).when(joinRoom('ada')).thenRejected('meeting/wrong-password');
    given(secured)
      .when(joinRoom('ada', { creatorHash: 'hash-of-creator' }))
      .thenRejected('meeting/wrong-password');
    given(secured)
      .when(joinRoom('ada', { verifiedPasswordHash: 'hash of a room before' }))
      .thenRejected('meeting/wrong-password');
    given(secured)
      .when(joinRoom('ada', { verifiedPasswordHash: 'hash' }))
      .then(joined('ada', true));
  });

  it('makes the first participant and the creator moderators', () => {
    given(opened()).when(joinRoom('ada')).then(joined('ada', true));
    given(...ada)
      .when(joinRoom('bob'))
      .then(joined('bob'));
    given(...ada)
      .when(joinRoom('bob', { creatorHash: 'hash-of-creator' }))
      .then(joined('bob', true));
  });

  it('ignores a wrong creator token, or one for a room without a creator', () => {
    given(...ada)
      .when(joinRoom('bob', { creatorHash: 'another' }))
      .then(joined('bob'));
    given(hosted, joined('ada', true))
      .when(joinRoom('bob', { creatorHash: 'hash-of-creator' }))
      .then(joined('bob'));
  });

  it('admits no one beyond its limit of participants', () => {
    const full = [opened({ maxParticipants: 3 }), ...people(3)];
    given(...full)
      .when(joinRoom('bob'))
      .thenRejected('meeting/room-full');
    given(...full)
      .when(joinRoom('bob', { creatorHash: 'hash-of-creator' }))
      .thenRejected('meeting/room-full');
    given(...full, left('p1'))
      .when(joinRoom('bob'))
      .then(joined('bob'));
  });

  it('admits each participant once', () => {
    given(...ada)
      .when(joinRoom('ada'))
      .thenNothing();
    given(...ada, locked('ada'), requested('bob'))
      .when(joinRoom('bob'))
      .thenNothing();
  });

  it('can be created again after its expiry, even if that is not recorded yet', () => {
    const expiresAt = NOON + DAY;
    given(opened())
      .when(openRoom({ now: expiresAt - 1 }))
      .thenRejected('meeting/room-exists');
    given(opened())
      .when(openRoom({ now: expiresAt }))
      .then(ended(expiresAt), opened({ openedAt: expiresAt }));
    given(opened())
      .when(joinRoom('ada', { now: expiresAt }))
      .thenRejected('meeting/room-not-found');
  });

  it('restores the place of a participant on a new socket, and not of a stranger', () => {
    const back = { type: 'ReturnToRoom', roomId, node: 'south', seat: 'two', now: NOON } as const;
    const returned = (participantId: string) =>
      happened('ParticipantReturned', { participantId, returnedAt: NOON, node: 'south', seat: 'two' });
    given(...ada)
      .when({ ...back, participantId: 'ada' })
      .then(returned('ada'));
    given(...ada, returned('ada'))
      .when({ ...back, participantId: 'ada' })
      .thenNothing();
    given(...ada)
      .when({ ...back, participantId: 'ada', node: 'south', seat: 'seat-of-ada' })
      .then(happened('ParticipantReturned', { ...returned('ada').data, seat: 'seat-of-ada' }));
    given(...ada, locked('ada'), requested('bob'))
      .when({ ...back, participantId: 'bob' })
      .then(returned('bob'));
    given(...ada)
      .when({ ...back, participantId: 'eve' })
      .thenRejected('meeting/not-joined');
    given(...ada, joined('bob'), promoted('bob', 'ada'), returned('bob'))
      .when(does('bob', 'LockRoom'))
      .then(locked('bob'));
  });
});
