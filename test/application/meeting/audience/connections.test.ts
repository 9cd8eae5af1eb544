/** What participants receive about lost connections, and about earlier meetings in the same room. */
import { expect } from 'chai';
import type { RoomEvent } from '../../../../domain/meeting/catalog.js';
import {
  connectionLost,
  ended,
  granted,
  happened,
  hosted,
  joined,
  left,
  locked,
  meetingId,
  NOON,
  opened,
  rejoined,
  requested,
  roomId,
} from '../../../support/meeting-fixtures.js';
import { delivered } from './audience-spec.js';

const about = (type: string, participantId: string, more: object = {}) => ({
  type,
  roomId,
  participantId,
  timestamp: NOON,
  ...more,
});
const flags = { isModerator: false, isMuted: false, isVideoOff: false, isHandRaised: false };
const updatedAs = (id: string, more: object) => about('participant-updated', id, { ...flags, ...more });
const joinedAs = (id: string, isModerator = false, more: object = {}) =>
  about('participant-joined', id, { name: id, isModerator, isMuted: false, isVideoOff: false, ...more });
const own = (id: string) => ({ resumeToken: `token-of-${id}` });
const returned = (participantId: string) =>
  happened('ParticipantReturned', { participantId, returnedAt: NOON, node: 'south', seat: 'another' });

const two = [opened({ returnMs: 20_000 }), joined('ada', true), joined('bob')];

describe('a lost connection to a meeting', () => {
  it('is reported to the others, as is the reconnection', () => {
    expect(delivered(...two, connectionLost('bob'))).to.deep.equal({
      ada: [updatedAs('bob', { connection: 'lost' })],
    });
    expect(delivered(...two, connectionLost('bob'), returned('bob'))).to.deep.equal({
      bob: [joinedAs('bob', false, own('bob')), joinedAs('ada', true)],
      ada: [updatedAs('bob', { connection: 'ok' })],
    });
    expect(delivered(...two, returned('bob'))).to.have.all.keys('bob');
  });

  it('is reported to newcomers, and in further updates of the participant', () => {
    const afterLoss = [...two, connectionLost('bob')];
    const lostUpdate = updatedAs('bob', { connection: 'lost' });
    const cleo = [joinedAs('cleo', false, own('cleo')), joinedAs('ada', true), joinedAs('bob'), lostUpdate];
    expect(delivered(...afterLoss, joined('cleo')).cleo).to.deep.equal(cleo);
    const muted = happened('ParticipantMuted', { participantId: 'bob', by: 'ada', mutedAt: NOON });
    expect(delivered(...afterLoss, muted).ada).to.deep.equal([updatedAs('bob', { isMuted: true, connection: 'lost' })]);
  });

  it('is not reported for a waiting user', () => {
    expect(delivered(...two, locked('ada'), requested('dan'), connectionLost('dan'))).to.deep.equal({});
  });

  it('of a waiting user is reported after admission', () => {
    const waits = [...two, locked('ada'), requested('dan'), connectionLost('dan')];
    const lostUpdate = [joinedAs('dan'), updatedAs('dan', { connection: 'lost' })];
    const { ada, bob } = delivered(...waits, granted('dan', 'ada'));
    expect({ ada, bob }).to.deep.equal({ ada: lostUpdate, bob: lostUpdate });
  });

  it('is not involved if a participant leaves and joins again', () => {
    expect(delivered(...two, left('bob'), rejoined('bob'))).to.deep.equal({
      bob: [joinedAs('bob', false, own('bob')), joinedAs('ada', true)],
      ada: [joinedAs('bob')],
    });
  });
});

describe('a meeting in a room with an erased earlier meeting', () => {
  const ofSecond = ({ type, data }: RoomEvent) => ({ type, data: { ...data, meetingId: 'second' } }) as RoomEvent;
  const erased = (of: string): RoomEvent => ({
    type: 'MeetingErased',
    data: { roomId, meetingId: of, erasedAt: NOON },
  });
  const running = [hosted, joined('eve', true), left('eve'), ended(), ...two.map(ofSecond)];
  const raised = ofSecond(happened('HandRaised', { participantId: 'bob', raisedAt: NOON }));

  it('is not affected by the erasure', () => {
    expect(delivered(...running, erased(meetingId))).to.deep.equal({});
    expect(delivered(...running, erased(meetingId), raised).ada).to.deep.equal([
      about('raise-hand', 'bob'),
      updatedAs('bob', { isHandRaised: true }),
    ]);
    expect(delivered(...running, erased('earlier'), ofSecond(joined('cleo'))).cleo).to.have.length(3);
  });
});
