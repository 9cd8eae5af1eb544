/** What the people of a meeting are told of connections that are lost and come back, and of meetings before theirs. */
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
import { told } from './audience-spec.js';

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
  it('is shown to the others, and that it is back', () => {
    expect(told(...two, connectionLost('bob'))).to.deep.equal({
      ada: [updatedAs('bob', { connection: 'lost' })],
    });
    expect(told(...two, connectionLost('bob'), returned('bob'))).to.deep.equal({
      bob: [joinedAs('bob', false, own('bob')), joinedAs('ada', true)],
      ada: [updatedAs('bob', { connection: 'ok' })],
    });
    expect(told(...two, returned('bob'))).to.have.all.keys('bob');
  });

  it('is shown to who comes meanwhile, and with whatever else is told of them', () => {
    const lost = [...two, connectionLost('bob')];
    const shown = updatedAs('bob', { connection: 'lost' });
    const cleo = [joinedAs('cleo', false, own('cleo')), joinedAs('ada', true), joinedAs('bob'), shown];
    expect(told(...lost, joined('cleo')).cleo).to.deep.equal(cleo);
    const muted = happened('ParticipantMuted', { participantId: 'bob', by: 'ada', mutedAt: NOON });
    expect(told(...lost, muted).ada).to.deep.equal([updatedAs('bob', { isMuted: true, connection: 'lost' })]);
  });

  it('of who waits is told to nobody', () => {
    expect(told(...two, locked('ada'), requested('dan'), connectionLost('dan'))).to.deep.equal({});
  });

  it('of who is admitted meanwhile is shown after their coming', () => {
    const waits = [...two, locked('ada'), requested('dan'), connectionLost('dan')];
    const shown = [joinedAs('dan'), updatedAs('dan', { connection: 'lost' })];
    const { ada, bob } = told(...waits, granted('dan', 'ada'));
    expect({ ada, bob }).to.deep.equal({ ada: shown, bob: shown });
  });

  it('of who left and comes back is told like their coming', () => {
    expect(told(...two, left('bob'), rejoined('bob'))).to.deep.equal({
      bob: [joinedAs('bob', false, own('bob')), joinedAs('ada', true)],
      ada: [joinedAs('bob')],
    });
  });
});

describe('a meeting that runs under the id of an earlier one', () => {
  const ofSecond = ({ type, data }: RoomEvent) => ({ type, data: { ...data, meetingId: 'second' } }) as RoomEvent;
  const erased = (of: string): RoomEvent => ({
    type: 'MeetingErased',
    data: { roomId, meetingId: of, erasedAt: NOON },
  });
  const running = [hosted, joined('eve', true), left('eve'), ended(), ...two.map(ofSecond)];
  const raised = ofSecond(happened('HandRaised', { participantId: 'bob', raisedAt: NOON }));

  it('goes on when that one is erased, and is told nothing of it', () => {
    expect(told(...running, erased(meetingId))).to.deep.equal({});
    expect(told(...running, erased(meetingId), raised).ada).to.deep.equal([
      about('raise-hand', 'bob'),
      updatedAs('bob', { isHandRaised: true }),
    ]);
    expect(told(...running, erased('earlier'), ofSecond(joined('cleo'))).cleo).to.have.length(3);
  });
});
