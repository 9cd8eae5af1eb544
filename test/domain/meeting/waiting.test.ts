/** Who waits before a meeting room, and who lets them in. */
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

describe('a meeting room', () => {
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

    it('lets in the one who is admitted, and no other who waits', () => {
      const waiting = [requested('bob'), requested('cleo'), granted('cleo', 'ada')];
      given(...shut, ...waiting)
        .when(does('cleo', 'RaiseHand'))
        .then(happened('HandRaised', { participantId: 'cleo', raisedAt: NOON }));
      given(...shut, ...waiting)
        .when(doesTo('ada', 'AdmitUser', 'bob'))
        .then(granted('bob', 'ada'));
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

    it('gives each seat that is free after that to who has waited longest, before newcomers', () => {
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

    it('knows them by who they prove to have been, wherever they come from and however they are called', () => {
      const elsewhere = { caller: 'address-of-nobody', formerId: 'bob' };
      given(...sentAway)
        .when(joinRoom('dan', elsewhere))
        .then(
          happened('EntryRequested', {
            participantId: 'dan',
            requestedAt: NOON,
            ...elsewhere,
            node: 'north',
            seat: 'seat-of-dan',
            secret: { name: 'dan' },
          }),
        );
      const asked = requested('dan');
      const waits = { ...asked, data: { ...asked.data, ...elsewhere } };
      given(...sentAway, locked('ada'), waits)
        .when(does('ada', 'UnlockRoom'))
        .then(unlocked('ada'));
      given(...sentAway)
        .when(joinRoom('dan', { formerId: 'cleo' }))
        .then(joined('dan'));
    });

    it('does not let them in by unlocking', () => {
      given(...sentAway, locked('ada'), requested('bob'), requested('cleo'))
        .when(does('ada', 'UnlockRoom', NOON + MINUTE))
        .then(unlocked('ada', NOON + MINUTE), granted('cleo', undefined, false, NOON + MINUTE));
    });

    it('lets them wait also when all others have left, until a moderator admits them', () => {
      const empty = [...sentAway, left('ada')];
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

    it('ends in its time though they wait, and the next meeting under its id knows of no kick', () => {
      const waits = [...sentAway, left('ada'), requested('bob', NOON + MINUTE)];
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
