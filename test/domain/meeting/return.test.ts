/** Returning to a meeting room: a lost connection keeps its place, and a recent participant can rejoin. */
import { room } from '../../../domain/meeting/room.js';
import { MAX_DEPARTED } from '../../../domain/meeting/state.js';
import { specOf } from '../../support/decider-spec.js';
import {
  connectionLost,
  does,
  ended,
  granted,
  happened,
  hostedHolding,
  joined,
  joinRoom,
  kicked,
  leaveRoom,
  left,
  locked,
  loseConnection,
  lost,
  NOON,
  opened,
  people,
  promoted,
  RETURN_MS,
  rejoined,
  requested,
  returning,
  roomId,
  unlocked,
} from '../../support/meeting-fixtures.js';

const { given } = specOf(room);
const openedWithReturn = opened({ returnMs: RETURN_MS });
const ada = [openedWithReturn, joined('ada', true)];
const returned = (participantId: string) =>
  happened('ParticipantReturned', {
    participantId,
    returnedAt: NOON,
    node: 'north',
    seat: `seat-of-${participantId}`,
  });

describe('a lost connection to a meeting room', () => {
  it('is recorded once, for the current socket only', () => {
    given(...ada)
      .when(loseConnection('ada'))
      .then(connectionLost('ada'));
    given(...ada, connectionLost('ada'))
      .when(loseConnection('ada'))
      .thenNothing();
    given(...ada)
      .when({ type: 'LoseConnection', roomId, where: { seat: 'another' }, now: NOON })
      .thenNothing();
    given(...ada, joined('bob'), locked('ada'), requested('cleo'))
      .when({ type: 'LoseConnection', roomId, where: { node: 'north' }, now: NOON })
      .then(connectionLost('ada'), connectionLost('bob'), connectionLost('cleo'));
  });

  it('keeps place, role and recording, and counts toward the limit', () => {
    const two = [opened({ returnMs: RETURN_MS, maxParticipants: 2 }), ...people(2)];
    given(...two, connectionLost('p0'))
      .when(joinRoom('dan'))
      .thenRejected('meeting/room-full');
    given(...two, happened('RecordingStarted', { startedAt: NOON, by: 'p0' }), connectionLost('p0'))
      .when(does('p0', 'StartRecording'))
      .thenNothing();
  });

  it('is restored on return, regardless of lock and limit', () => {
    given(opened({ maxParticipants: 2 }), ...people(2), locked('p1'), connectionLost('p0'))
      .when(returning('p0'))
      .then(returned('p0'));
    given(...ada, connectionLost('ada'), returned('ada'))
      .when(returning('ada'))
      .thenNothing();
  });

  it('leaves after a timeout, after which a return is rejected', () => {
    given(...ada, joined('bob'), connectionLost('ada'))
      .when({ ...leaveRoom('ada'), hasTimedOut: true } as never)
      .then(lost('ada'), promoted('bob'));
    given(...ada, joined('bob'), connectionLost('ada'), lost('ada'))
      .when(returning('ada'))
      .thenRejected('meeting/not-joined');
  });

  it('does not occupy a free seat before a connected waiting user', () => {
    const two = [opened({ maxParticipants: 2, returnMs: RETURN_MS }), ...people(2), locked('p0')];
    const waiting = [...two, requested('dan'), requested('eve'), unlocked('p0'), connectionLost('dan')];
    given(...waiting)
      .when(leaveRoom('p1'))
      .then(left('p1'), granted('eve'));
    given(...waiting, left('p1'))
      .when(returning('dan'))
      .then(returned('dan'), granted('dan'));
  });
});

describe('a former participant of a meeting room', () => {
  const bobLeft = [...ada, joined('bob'), left('bob')];

  it('can return within the return period only', () => {
    given(...bobLeft)
      .when(returning('bob', NOON + RETURN_MS - 1))
      .then(rejoined('bob', false, NOON + RETURN_MS - 1));
    given(...bobLeft)
      .when(returning('bob', NOON + RETURN_MS))
      .thenRejected('meeting/not-joined');
    given(...bobLeft, rejoined('bob'))
      .when(does('bob', 'RaiseHand'))
      .then(happened('HandRaised', { participantId: 'bob', raisedAt: NOON }));
  });

  it('is forgotten after the maximum number of later departures', () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => [joined(`p${n}`), left(`p${n}`)]).flat();
    given(...bobLeft, ...many(MAX_DEPARTED - 1))
      .when(returning('bob'))
      .then(rejoined('bob'));
    given(...bobLeft, ...many(MAX_DEPARTED))
      .when(returning('bob'))
      .thenRejected('meeting/not-joined');
  });

  it('is moderator again if they were, or if the room is empty', () => {
    given(...ada, joined('bob'), left('ada'), promoted('bob'))
      .when(returning('ada'))
      .then(rejoined('ada', true));
    given(...ada, joined('bob'), left('bob'), left('ada'))
      .when(returning('bob'))
      .then(rejoined('bob', true));
  });

  it('has no reserved place: lock, limit and kick apply', () => {
    given(...bobLeft, locked('ada'))
      .when(returning('bob'))
      .thenRejected('meeting/not-joined');
    given(opened({ maxParticipants: 2, returnMs: RETURN_MS }), ...people(2), left('p1'), joined('dan'))
      .when(returning('p1'))
      .thenRejected('meeting/not-joined');
    given(...ada, joined('bob'), kicked('bob', 'ada'))
      .when(returning('bob'))
      .thenRejected('meeting/not-joined');
    // A user with the same name and network was kicked after Bob had left.
    const twin = joined('twin');
    const same = { ...twin, data: { ...twin.data, caller: 'address-of-bob' } };
    given(...bobLeft, same, kicked('twin', 'ada'))
      .when(returning('bob'))
      .thenRejected('meeting/not-joined');
  });
});

describe('an empty meeting room', () => {
  const empty = [hostedHolding, joined('ada', true), left('ada')];

  it('stays open for the return period, then ends', () => {
    given(hostedHolding, joined('ada', true)).when(leaveRoom('ada')).then(left('ada'));
    given(...empty)
      .when(returning('ada', NOON + RETURN_MS - 1))
      .then(rejoined('ada', true, NOON + RETURN_MS - 1));
    const end = (now: number) => ({ type: 'EndRoom', roomId, now }) as const;
    given(...empty)
      .when(end(NOON + RETURN_MS - 1))
      .thenNothing();
    given(...empty)
      .when(end(NOON + RETURN_MS))
      .then(ended(NOON + RETURN_MS));
    given(...empty)
      .when(joinRoom('bob', { now: NOON + RETURN_MS }))
      .thenRejected('meeting/room-not-found');
  });

  it('keeps waiting users until a participant is present', () => {
    const waiting = [hostedHolding, joined('ada', true), locked('ada'), requested('bob')];
    given(...waiting)
      .when(leaveRoom('ada'))
      .then(left('ada'));
    given(...waiting, left('ada'))
      .when(returning('ada'))
      .then(rejoined('ada', true), granted('bob'));
  });
});
