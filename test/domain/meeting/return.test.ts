/** Coming back to a meeting room: a lost connection keeps its place, and who left a moment ago is who they were. */
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
const held = opened({ returnMs: RETURN_MS });
const ada = [held, joined('ada', true)];
const returned = (participantId: string) =>
  happened('ParticipantReturned', {
    participantId,
    returnedAt: NOON,
    node: 'north',
    seat: `seat-of-${participantId}`,
  });

describe('a connection to a meeting room that is lost', () => {
  it('is a fact, once, and only of the socket on which they are', () => {
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

  it('keeps place, role and recording, and counts toward the cap', () => {
    const two = [opened({ returnMs: RETURN_MS, maxParticipants: 2 }), ...people(2)];
    given(...two, connectionLost('p0'))
      .when(joinRoom('dan'))
      .thenRejected('meeting/room-full');
    given(...two, happened('RecordingStarted', { startedAt: NOON, by: 'p0' }), connectionLost('p0'))
      .when(does('p0', 'StartRecording'))
      .thenNothing();
  });

  it('is there again when they come back, whatever lock and cap say', () => {
    given(opened({ maxParticipants: 2 }), ...people(2), locked('p1'), connectionLost('p0'))
      .when(returning('p0'))
      .then(returned('p0'));
    given(...ada, connectionLost('ada'), returned('ada'))
      .when(returning('ada'))
      .thenNothing();
  });

  it('is left after its time, and cannot be come back to then', () => {
    given(...ada, joined('bob'), connectionLost('ada'))
      .when({ ...leaveRoom('ada'), hasTimedOut: true } as never)
      .then(lost('ada'), promoted('bob'));
    given(...ada, joined('bob'), connectionLost('ada'), lost('ada'))
      .when(returning('ada'))
      .thenRejected('meeting/not-joined');
  });

  it('does not lead to a free seat before somebody waits for it who is there', () => {
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

describe('who has left a meeting room', () => {
  const gone = [...ada, joined('bob'), left('bob')];

  it('is who they were for a while, and then nobody', () => {
    given(...gone)
      .when(returning('bob', NOON + RETURN_MS - 1))
      .then(rejoined('bob', false, NOON + RETURN_MS - 1));
    given(...gone)
      .when(returning('bob', NOON + RETURN_MS))
      .thenRejected('meeting/not-joined');
    given(...gone, rejoined('bob'))
      .when(does('bob', 'RaiseHand'))
      .then(happened('HandRaised', { participantId: 'bob', raisedAt: NOON }));
  });

  it('is forgotten after as many more as a room holds', () => {
    const many = (count: number) => Array.from({ length: count }, (_, n) => [joined(`p${n}`), left(`p${n}`)]).flat();
    given(...gone, ...many(MAX_DEPARTED - 1))
      .when(returning('bob'))
      .then(rejoined('bob'));
    given(...gone, ...many(MAX_DEPARTED))
      .when(returning('bob'))
      .thenRejected('meeting/not-joined');
  });

  it('leads again if they did, or if nobody is there', () => {
    given(...ada, joined('bob'), left('ada'), promoted('bob'))
      .when(returning('ada'))
      .then(rejoined('ada', true));
    given(...ada, joined('bob'), left('bob'), left('ada'))
      .when(returning('bob'))
      .then(rejoined('bob', true));
  });

  it('held no place: the lock, the cap and a kick count', () => {
    given(...gone, locked('ada'))
      .when(returning('bob'))
      .thenRejected('meeting/not-joined');
    given(opened({ maxParticipants: 2, returnMs: RETURN_MS }), ...people(2), left('p1'), joined('dan'))
      .when(returning('p1'))
      .thenRejected('meeting/not-joined');
    given(...ada, joined('bob'), kicked('bob', 'ada'))
      .when(returning('bob'))
      .thenRejected('meeting/not-joined');
    // Under the name and from the network of somebody who was kicked after they had left.
    const twin = joined('twin');
    const same = { ...twin, data: { ...twin.data, caller: 'address-of-bob' } };
    given(...gone, same, kicked('twin', 'ada'))
      .when(returning('bob'))
      .thenRejected('meeting/not-joined');
  });
});

describe('a meeting room that became empty', () => {
  const empty = [hostedHolding, joined('ada', true), left('ada')];

  it('stays for a while, and ends then', () => {
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

  it('keeps those waiting who were not let in, until somebody is there', () => {
    const waiting = [hostedHolding, joined('ada', true), locked('ada'), requested('bob')];
    given(...waiting)
      .when(leaveRoom('ada'))
      .then(left('ada'));
    given(...waiting, left('ada'))
      .when(returning('ada'))
      .then(rejoined('ada', true), granted('bob'));
  });
});
