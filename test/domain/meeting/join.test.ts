/** How a meeting room is opened and entered, told as what people may expect of it. */
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
  describe('that is made before anybody comes', () => {
    it('keeps what was said of it, and nothing that was not', () => {
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

    it('is there once', () => {
      given(opened()).when(openRoom()).thenRejected('meeting/room-exists');
      given(hosted, joined('ada', true)).when(openRoom()).thenRejected('meeting/room-exists');
    });

    it('can be made anew once it has ended', () => {
      given(opened(), ended()).when(openRoom()).then(opened());
    });
  });

  it('is not there until it is made, or a host comes', () => {
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

  it('gives a host nothing where somebody is already', () => {
    given(...ada)
      .when(hostRoom('bob'))
      .then(joined('bob'));
  });

  it('asks for its password, also of who has the creator token', () => {
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

  it('is led by who finds it empty, and by who has the creator token', () => {
    given(opened()).when(joinRoom('ada')).then(joined('ada', true));
    given(...ada)
      .when(joinRoom('bob'))
      .then(joined('bob'));
    given(...ada)
      .when(joinRoom('bob', { creatorHash: 'hash-of-creator' }))
      .then(joined('bob', true));
  });

  it('passes over a creator token that is wrong, or where there is none', () => {
    given(...ada)
      .when(joinRoom('bob', { creatorHash: 'another' }))
      .then(joined('bob'));
    given(hosted, joined('ada', true))
      .when(joinRoom('bob', { creatorHash: 'hash-of-creator' }))
      .then(joined('bob'));
  });

  it('is full at its cap, for everyone', () => {
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

  it('takes nobody twice', () => {
    given(...ada)
      .when(joinRoom('ada'))
      .thenNothing();
    given(...ada, locked('ada'), requested('bob'))
      .when(joinRoom('bob'))
      .thenNothing();
  });

  it('is free again when its time is over, whether or not that was told', () => {
    const over = NOON + DAY;
    given(opened())
      .when(openRoom({ now: over - 1 }))
      .thenRejected('meeting/room-exists');
    given(opened())
      .when(openRoom({ now: over }))
      .then(ended(over), opened({ openedAt: over }));
    given(opened())
      .when(joinRoom('ada', { now: over }))
      .thenRejected('meeting/room-not-found');
  });

  it('gives who comes back over another socket their place, and a stranger none', () => {
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
