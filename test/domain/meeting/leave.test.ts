/** Leaving a meeting room, and what happens to the room. */
import type { RoomEvent } from '../../../domain/meeting/catalog.js';
import { MAX_READABLE } from '../../../domain/meeting/leave.js';
import { room } from '../../../domain/meeting/room.js';
import { specOf } from '../../support/decider-spec.js';
import {
  connectionLost,
  DAY,
  does,
  doesTo,
  ended,
  granted,
  HOUR,
  happened,
  hosted,
  joined,
  joinRoom,
  kicked,
  leaveRoom,
  left,
  locked,
  lost,
  meetingId,
  NOON,
  opened,
  promoted,
  requested,
  roomId,
} from '../../support/meeting-fixtures.js';

const { given } = specOf(room);
const three = [opened(), joined('ada', true), joined('bob'), joined('cleo')];
const erased: RoomEvent = { type: 'MeetingErased', data: { roomId, meetingId: 'm0', erasedAt: NOON } };
const withdrawn = (participantId: string) => happened('EntryWithdrawn', { participantId, withdrawnAt: NOON });
const evictedWaiting = (participantId: string) =>
  happened('EntryWithdrawn', { participantId, withdrawnAt: NOON, isLost: true });
const endRoom = (now: number) => ({ type: 'EndRoom', roomId, now }) as const;

describe('leaving a meeting room', () => {
  it('removes the participant, as does a kick', () => {
    given(...three)
      .when(leaveRoom('bob'))
      .then(left('bob'));
    given(...three, left('bob'))
      .when(leaveRoom('bob'))
      .thenNothing();
    given(...three)
      .when(doesTo('ada', 'KickParticipant', 'bob'))
      .then(kicked('bob', 'ada'));
    given(...three, kicked('bob', 'ada'))
      .when(doesTo('ada', 'MuteParticipant', 'bob'))
      .thenRejected('meeting/target-not-found');
  });

  it('erases the oldest meetings beyond the number that can still be read', () => {
    const pastMeetings = Array.from({ length: MAX_READABLE }, (_, n) =>
      [hosted, joined('ada', true), left('ada'), ended()].map(
        ({ type, data }) => ({ type, data: { ...data, meetingId: `m${n}` } }) as RoomEvent,
      ),
    );
    given(opened(), ended(), ...pastMeetings.slice(1).flat(), hosted, joined('ada', true))
      .when(leaveRoom('ada'))
      .then(left('ada'), ended());
    given(opened(), ended(), ...pastMeetings.flat(), hosted, joined('ada', true))
      .when(leaveRoom('ada'))
      .then(left('ada'), ended(), erased);
  });

  it('withdraws a waiting user', () => {
    given(...three, locked('ada'), requested('dan'))
      .when(leaveRoom('dan'))
      .then(withdrawn('dan'));
    given(...three, locked('ada'), requested('dan'), withdrawn('dan'))
      .when(doesTo('ada', 'AdmitUser', 'dan'))
      .thenNothing();
  });

  it('is ignored for the former socket of a reconnected participant', () => {
    const returned = happened('ParticipantReturned', {
      participantId: 'bob',
      returnedAt: NOON,
      node: 'south',
      seat: 'two',
    });
    given(...three, returned)
      .when(leaveRoom('bob'))
      .thenNothing();
    given(...three, returned)
      .when({ type: 'LeaveRoom', roomId, participantId: 'bob', seat: 'two', now: NOON })
      .then(left('bob'));
    given(opened(), joined('ada', true), locked('ada'), requested('bob'), returned)
      .when(leaveRoom('bob'))
      .thenNothing();
  });

  it('promotes the longest present participant if no moderator remains', () => {
    given(...three)
      .when(leaveRoom('ada'))
      .then(left('ada'), promoted('bob'));
    given(...three, promoted('cleo', 'ada'))
      .when(leaveRoom('ada'))
      .then(left('ada'));
    given(...three)
      .when(doesTo('ada', 'KickParticipant', 'ada'))
      .then(kicked('ada', 'ada'), promoted('bob'));
  });

  it('promotes connected participants before those with a lost connection', () => {
    given(...three, connectionLost('bob'))
      .when(leaveRoom('ada'))
      .then(left('ada'), promoted('cleo'));
    given(...three, connectionLost('bob'), connectionLost('cleo'))
      .when(leaveRoom('ada'))
      .then(left('ada'), promoted('bob'));
  });

  it('ends a room opened by its host when the last participant leaves', () => {
    given(hosted, joined('ada', true), locked('ada'), requested('bob'))
      .when(leaveRoom('ada'))
      .then(left('ada'), ended());
    given(hosted, joined('ada', true), left('ada'), ended())
      .when(joinRoom('ada'))
      .thenRejected('meeting/room-not-found');
  });

  it('releases the lock with the last participant, and admits waiting users', () => {
    given(opened(), joined('ada', true), locked('ada'), left('ada')).when(joinRoom('bob')).then(joined('bob', true));
    given(opened({ maxParticipants: 2 }), joined('ada', true), locked('ada'))
      .when(leaveRoom('ada'))
      .then(left('ada'));
    given(
      opened({ maxParticipants: 2 }),
      joined('ada', true),
      locked('ada'),
      requested('bob'),
      requested('cleo'),
      requested('dan'),
    )
      .when(leaveRoom('ada'))
      .then(left('ada'), granted('bob', undefined, true), granted('cleo'));
    given(
      opened(),
      joined('ada', true),
      joined('bob'),
      kicked('bob', 'ada'),
      requested('bob'),
      locked('ada'),
      requested('cleo'),
    )
      .when(leaveRoom('ada'))
      .then(left('ada'), granted('cleo', undefined, true));
  });

  it('removes all participants of a dead node in one command', () => {
    const south = (event: RoomEvent) => ({ ...event, data: { ...event.data, node: 'south' } }) as RoomEvent;
    const removeNode = { type: 'RemovePeopleOfNode', roomId, node: 'south', now: NOON } as const;
    given(...three)
      .when(removeNode)
      .thenNothing();
    given(
      opened(),
      south(joined('ada', true)),
      joined('bob'),
      south(joined('cleo')),
      locked('ada'),
      south(requested('dan')),
      requested('eve'),
    )
      .when(removeNode)
      .then(evictedWaiting('dan'), lost('ada'), lost('cleo'), promoted('bob'));
    given(opened(), south(joined('ada', true)), locked('ada'), south(requested('dan')), requested('eve'))
      .when(removeNode)
      .then(evictedWaiting('dan'), lost('ada'), granted('eve', undefined, true));
  });

  it('ends a room created in advance a day after its creation, scheduled end or last participant', () => {
    const expiries: readonly (readonly [readonly RoomEvent[], number])[] = [
      [[opened()], NOON + DAY],
      [[opened({ scheduledEnd: NOON + 5 * HOUR })], NOON + 5 * HOUR + DAY],
      [[opened(), joined('ada', true), left('ada', NOON + HOUR)], NOON + HOUR + DAY],
      [
        [opened({ scheduledEnd: NOON + 5 * HOUR }), joined('ada', true), left('ada', NOON + HOUR)],
        NOON + 5 * HOUR + DAY,
      ],
    ];
    for (const [events, at] of expiries) {
      given(...events)
        .when(endRoom(at - 1))
        .thenNothing();
      given(...events)
        .when(endRoom(at))
        .then(ended(at));
    }
    given(opened(), joined('ada', true))
      .when(endRoom(NOON + 30 * DAY))
      .thenNothing();
    given(hosted, joined('ada', true))
      .when(endRoom(NOON + 30 * DAY))
      .thenNothing();
    given(opened(), ended())
      .when(endRoom(NOON + 30 * DAY))
      .thenNothing();
  });

  it('allows erasing an ended meeting while the next one is running', () => {
    const erase = { type: 'EraseMeeting', roomId, meetingId, now: NOON } as const;
    const erased = happened('MeetingErased', { erasedAt: NOON });
    given(opened()).when(erase).thenNothing();
    given(opened(), ended()).when(erase).then(erased);
    given(opened(), ended(), opened({ meetingId: 'second' }))
      .when(erase)
      .then(erased);
    given(opened(), ended(), erased).when(erase).thenNothing();
    given(opened(), ended(), opened({ meetingId: 'second' }), joined('ada', true), erased)
      .when(does('ada', 'LockRoom'))
      .then({ type: 'RoomLocked', data: { roomId, meetingId: 'second', by: 'ada', lockedAt: NOON } });
  });
});
