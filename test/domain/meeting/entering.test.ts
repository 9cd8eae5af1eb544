/** How a meeting room is opened and entered, told as what people may expect of it (answers-meeting, Joining). */
import { MAX_WAITING } from '../../../domain/meeting/entering.js';
import { room } from '../../../domain/meeting/room.js';
import { specOf } from '../../support/decider-spec.js';
import {
  DAY,
  does,
  doesTo,
  ended,
  granted,
  HOUR,
  happened,
  hosted,
  hostRoom,
  joined,
  joinRoom,
  kicked,
  left,
  locked,
  MINUTE,
  NOON,
  opened,
  openRoom,
  promoted,
  requested,
  roomId,
  unlocked,
} from '../../support/meeting.js';

const { given } = specOf(room);
const ada = [opened(), joined('ada', true)];
const people = (count: number) =>
  Array.from({ length: count }, (_, index) => joined(`p${index}`, index === 0));

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
      .when(joinRoom('ada', { proven: 'hash of a room before' }))
      .thenRejected('meeting/wrong-password');
    given(secured)
      .when(joinRoom('ada', { proven: 'hash' }))
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

  describe('that is locked', () => {
    const shut = [...ada, locked('ada')];

    it('lets people wait, and the creator in', () => {
      given(...shut)
        .when(joinRoom('bob'))
        .then(requested('bob'));
      given(...shut)
        .when(joinRoom('bob', { creatorHash: 'hash-of-creator' }))
        .then(joined('bob', true));
    });

    it('lets so many wait, and finds room for no more', () => {
      const many = Array.from({ length: MAX_WAITING }, (_, index) => requested(`w${index}`));
      given(...shut, ...many.slice(1))
        .when(joinRoom('bob'))
        .then(requested('bob'));
      given(...shut, ...many)
        .when(joinRoom('bob'))
        .thenRejected('meeting/room-full');
    });

    it('lets in whom a moderator admits, under the name and the id with which they waited', () => {
      given(...shut, requested('bob'))
        .when(doesTo('ada', 'AdmitUser', 'bob'))
        .then(granted('bob', 'ada'));
      given(...shut, requested('bob'), granted('bob', 'ada'))
        .when({ type: 'UpdateOneself', roomId, by: 'bob', isMuted: true, now: NOON })
        .then(
          happened('ParticipantUpdated', {
            participantId: 'bob',
            updatedAt: NOON,
            isMuted: true,
            isVideoOff: false,
            isHandRaised: false,
          }),
        );
    });

    it('passes over who is admitted or rejected and does not wait', () => {
      const reject = { type: 'RejectUser', roomId, by: 'ada', reason: '', now: NOON } as const;
      for (const nobody of ['eve', 'ada']) {
        given(...shut)
          .when(doesTo('ada', 'AdmitUser', nobody))
          .thenNothing();
        given(...shut)
          .when({ ...reject, participantId: nobody })
          .thenNothing();
      }
    });

    it('keeps who is admitted waiting while it is full', () => {
      given(opened({ maxParticipants: 2 }), ...people(2), locked('p0'), requested('bob'))
        .when(doesTo('p0', 'AdmitUser', 'bob'))
        .thenRejected('meeting/room-full');
    });

    it('turns away whom a moderator rejects, with the reason', () => {
      const refused = happened('EntryRefused', {
        participantId: 'bob',
        refusedAt: NOON,
        by: 'ada',
        secret: { reason: 'Not today' },
      });
      given(...shut, requested('bob'))
        .when({ type: 'RejectUser', roomId, by: 'ada', participantId: 'bob', reason: 'Not today', now: NOON })
        .then(refused);
      given(...shut, requested('bob'), refused)
        .when(doesTo('ada', 'AdmitUser', 'bob'))
        .thenNothing();
    });

    it('lets in all who wait when it is unlocked, up to its cap', () => {
      given(
        opened({ maxParticipants: 3 }),
        joined('ada', true),
        locked('ada'),
        requested('bob'),
        requested('cleo'),
        requested('dan'),
      )
        .when(does('ada', 'UnlockRoom'))
        .then(unlocked('ada'), granted('bob'), granted('cleo'));
    });
  });

  describe('from which somebody was kicked', () => {
    const sentAway = [...ada, joined('bob'), kicked('bob', 'ada')];

    it('lets them wait, for ten minutes', () => {
      const again = { caller: 'address-of-bob', node: 'north', seat: 'another' };
      given(...sentAway)
        .when(joinRoom('bob2', { ...again, now: NOON + 10 * MINUTE - 1 }))
        .then(
          happened('EntryRequested', {
            participantId: 'bob2',
            requestedAt: NOON + 10 * MINUTE - 1,
            ...again,
            secret: { name: 'bob2' },
          }),
        );
      given(...sentAway)
        .when(joinRoom('bob', { now: NOON + 10 * MINUTE }))
        .then(joined('bob', false, NOON + 10 * MINUTE));
      given(...sentAway)
        .when(joinRoom('cleo'))
        .then(joined('cleo'));
    });

    it('does not let them in by unlocking', () => {
      given(...sentAway, locked('ada'), requested('bob'), requested('cleo'))
        .when(does('ada', 'UnlockRoom', NOON + MINUTE))
        .then(unlocked('ada', NOON + MINUTE), granted('cleo', undefined, false, NOON + MINUTE));
    });

    it('has forgotten it when all have gone', () => {
      given(...sentAway, left('ada'))
        .when(joinRoom('bob'))
        .then(joined('bob', true));
    });
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
