/** The waiting room of a meeting: who waits, and who admits them. */
import { MAX_WAITING } from '../../../domain/meeting/join.js';
import { room } from '../../../domain/meeting/room.js';
import { specOf } from '../../support/decider-spec.js';
import {
  DAY,
  does,
  doesTo,
  ended,
  granted,
  happened,
  joined,
  joinRoom,
  kicked,
  leaveRoom,
  left,
  locked,
  MINUTE,
  NOON,
  opened,
  people,
  promoted,
  requested,
  roomId,
  unlocked,
} from '../../support/meeting-fixtures.js';

const { given } = specOf(room);
const ada = [opened(), joined('ada', true)];

describe('admission to a meeting room', () => {
  describe('that is locked', () => {
    const lockedRoom = [...ada, locked('ada')];

    it('makes users wait, except the creator', () => {
      given(...lockedRoom)
        .when(joinRoom('bob'))
        .then(requested('bob'));
      given(...lockedRoom)
        .when(joinRoom('bob', { creatorHash: 'hash-of-creator' }))
        .then(joined('bob', true));
    });

    it('limits waiting users', () => {
      const many = Array.from({ length: MAX_WAITING }, (_, index) => requested(`w${index}`));
      given(...lockedRoom, ...many.slice(1))
        .when(joinRoom('bob'))
        .then(requested('bob'));
      given(...lockedRoom, ...many)
        .when(joinRoom('bob'))
        .thenRejected('meeting/room-full');
    });

    it('admits a user by a moderator, keeping name and id', () => {
      given(...lockedRoom, requested('bob'))
        .when(doesTo('ada', 'AdmitUser', 'bob'))
        .then(granted('bob', 'ada'));
      given(...lockedRoom, requested('bob'), granted('bob', 'ada'))
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

    it('admits only the given user', () => {
      const waiting = [requested('bob'), requested('cleo'), granted('cleo', 'ada')];
      given(...lockedRoom, ...waiting)
        .when(does('cleo', 'RaiseHand'))
        .then(happened('HandRaised', { participantId: 'cleo', raisedAt: NOON }));
      given(...lockedRoom, ...waiting)
        .when(doesTo('ada', 'AdmitUser', 'bob'))
        .then(granted('bob', 'ada'));
    });

    it('ignores admission or rejection of users who are not waiting', () => {
      const reject = { type: 'RejectUser', roomId, by: 'ada', reason: '', now: NOON } as const;
      for (const absent of ['eve', 'ada']) {
        given(...lockedRoom)
          .when(doesTo('ada', 'AdmitUser', absent))
          .thenNothing();
        given(...lockedRoom)
          .when({ ...reject, participantId: absent })
          .thenNothing();
      }
    });

    it('keeps an admitted user waiting while the room is full', () => {
      given(opened({ maxParticipants: 2 }), ...people(2), locked('p0'), requested('bob'))
        .when(doesTo('p0', 'AdmitUser', 'bob'))
        .thenRejected('meeting/room-full');
    });

    it('rejects a user by a moderator, with the reason', () => {
      const refused = happened('EntryRefused', {
        participantId: 'bob',
        refusedAt: NOON,
        by: 'ada',
        secret: { reason: 'Not today' },
      });
      given(...lockedRoom, requested('bob'))
        .when({ type: 'RejectUser', roomId, by: 'ada', participantId: 'bob', reason: 'Not today', now: NOON })
        .then(refused);
      given(...lockedRoom, requested('bob'), refused)
        .when(doesTo('ada', 'AdmitUser', 'bob'))
        .thenNothing();
    });

    it('admits all waiting users on unlocking, up to the limit', () => {
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

    it('gives free seats to the longest waiting user before newcomers', () => {
      const full = [
        opened({ maxParticipants: 2 }),
        ...people(2),
        locked('p0'),
        requested('bob'),
        requested('cleo'),
        unlocked('p0'),
      ];
      given(...full)
        .when(joinRoom('dan'))
        .thenRejected('meeting/room-full');
      given(...full)
        .when(leaveRoom('p1'))
        .then(left('p1'), granted('bob'));
      given(...full)
        .when(doesTo('p0', 'KickParticipant', 'p1'))
        .then(kicked('p1', 'p0'), granted('bob'));
      given(...full)
        .when(leaveRoom('p0'))
        .then(left('p0'), promoted('p1'), granted('bob'));
      given(...full, locked('p0'))
        .when(leaveRoom('p1'))
        .then(left('p1'));
    });
  });

  describe('after a kick', () => {
    const kickedRoom = [...ada, joined('bob'), kicked('bob', 'ada')];

    it('makes the kicked user wait for ten minutes', () => {
      const again = { caller: 'address-of-bob', node: 'north', seat: 'another' };
      given(...kickedRoom)
        .when(joinRoom('bob2', { ...again, now: NOON + 10 * MINUTE - 1 }))
        .then(
          happened('EntryRequested', {
            participantId: 'bob2',
            requestedAt: NOON + 10 * MINUTE - 1,
            ...again,
            secret: { name: 'bob2' },
          }),
        );
      given(...kickedRoom)
        .when(joinRoom('bob', { now: NOON + 10 * MINUTE }))
        .then(joined('bob', false, NOON + 10 * MINUTE));
      given(...kickedRoom)
        .when(joinRoom('cleo'))
        .then(joined('cleo'));
    });

    it('recognises the kicked user by a former id, from another network and under another name', () => {
      const otherNetwork = { caller: 'address-of-nobody', formerId: 'bob' };
      given(...kickedRoom)
        .when(joinRoom('dan', otherNetwork))
        .then(
          happened('EntryRequested', {
            participantId: 'dan',
            requestedAt: NOON,
            ...otherNetwork,
            node: 'north',
            seat: 'seat-of-dan',
            secret: { name: 'dan' },
          }),
        );
      const request = requested('dan');
      const waits = { ...request, data: { ...request.data, ...otherNetwork } };
      given(...kickedRoom, locked('ada'), waits)
        .when(does('ada', 'UnlockRoom'))
        .then(unlocked('ada'));
      given(...kickedRoom)
        .when(joinRoom('dan', { formerId: 'cleo' }))
        .then(joined('dan'));
    });

    it('does not admit the kicked user on unlocking', () => {
      given(...kickedRoom, locked('ada'), requested('bob'), requested('cleo'))
        .when(does('ada', 'UnlockRoom', NOON + MINUTE))
        .then(unlocked('ada', NOON + MINUTE), granted('cleo', undefined, false, NOON + MINUTE));
    });

    it('makes the kicked user wait in an empty room too, until a moderator admits them', () => {
      const empty = [...kickedRoom, left('ada')];
      given(...empty)
        .when(joinRoom('bob'))
        .then(requested('bob'));
      given(...empty, requested('bob'))
        .when(joinRoom('cleo'))
        .then(joined('cleo', true));
      given(...empty, requested('bob'), joined('cleo', true))
        .when(doesTo('cleo', 'AdmitUser', 'bob'))
        .then(granted('bob', 'cleo'));
      given(...empty)
        .when(joinRoom('bob', { now: NOON + 10 * MINUTE }))
        .then(joined('bob', true, NOON + 10 * MINUTE));
    });

    it('ends with the room, even if the kicked user waits, and the next meeting knows no kick', () => {
      const waits = [...kickedRoom, left('ada'), requested('bob', NOON + MINUTE)];
      given(...waits)
        .when({ type: 'EndRoom', roomId, now: NOON + DAY })
        .then(ended(NOON + DAY));
      given(...waits, ended(NOON + MINUTE), opened({ meetingId: 'second' }))
        .when(joinRoom('bob', { now: NOON + 2 * MINUTE }))
        .then({
          type: 'ParticipantJoined',
          data: { ...joined('bob', true, NOON + 2 * MINUTE).data, meetingId: 'second' },
        });
    });
  });
});
