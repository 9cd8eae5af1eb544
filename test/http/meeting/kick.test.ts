/** Kicks are of a person: known by their token, or by network and name together; nobody else of their network is affected. */
import { expect } from 'chai';
import { come, type Person } from '../../support/meeting-client.js';
import { useMeeting } from '../../support/meeting-node.js';

describe('who was kicked out of a meeting', function () {
  this.timeout(60_000);
  const meetings = useMeeting({ '--server-trusted-proxies': '127.0.0.1' });
  const people: Person[] = [];
  let count = 0;
  let roomId: string;
  let [ada, bob]: Person[] = [];
  const [HERE, ELSEWHERE] = ['203.0.113.5', '203.0.113.6'];
  const comes = async (name: string, from: string, more: object = {}) => {
    const person = await come(meetings.base, roomId, name, more, from);
    people.push(person);
    return person;
  };
  beforeEach(async () => {
    roomId = `KICK${String(++count).padStart(2, '0')}`;
    ada = await comes('Ada', HERE, { isHost: true });
    bob = await comes('Böb  Baker', HERE);
    ada.send('moderator-action', { targetId: bob.id, action: 'kick' });
    await bob.closed;
  });
  afterEach(() => {
    for (const { socket } of people.splice(0)) socket.terminate();
  });
  const finds = async (name: string, from: string, more: object = {}) => (await comes(name, from, more)).inbox[0]?.type;
  const proof = () => ({ participantId: bob!.id, resumeToken: bob!.resumeToken });

  it('waits when they come under that name from that network, however it is written', async () => {
    expect(await finds('Böb  Baker', HERE)).to.equal('waiting-room');
    expect(await finds(' BOB baker ', HERE)).to.equal('waiting-room');
  });

  it('waits when they prove who they were, under any name, from anywhere, and unlocking does not let them in', async () => {
    const back = await comes('Somebody', ELSEWHERE, proof());
    expect(back.inbox[0]?.type).to.equal('waiting-room');
    expect(back.id).not.to.equal(bob!.id);
    ada!.send('room-locked');
    ada!.send('room-unlocked');
    await ada!.answered();
    await back.answered();
    expect(back.inbox.map(({ type }) => type)).not.to.include('participant-joined');
    ada!.send('admit-user', { targetId: back.id });
    await back.waitFor('participant-joined');
  });

  it('waits in a room that all others have left, until the next who comes admits them', async () => {
    ada!.send('leave');
    await ada!.answered();
    const back = await comes('Somebody', ELSEWHERE, proof());
    expect(back.inbox[0]?.type).to.equal('waiting-room');
    const cleo = await comes('Cleo', ELSEWHERE);
    expect(cleo.inbox[0]).to.include({ type: 'participant-joined', isModerator: true });
    await cleo.waitFor(({ type, participantId }) => type === 'waiting-room' && participantId === back.id);
    expect(back.inbox.map(({ type }) => type)).not.to.include('participant-joined');
    cleo.send('admit-user', { targetId: back.id });
    const own = await back.waitFor('participant-joined');
    expect(own).to.include({ participantId: back.id, isModerator: false });
  });

  it('keeps out nobody else: neither of that network nor of that name', async () => {
    expect(await finds('Cleo', HERE)).to.equal('participant-joined');
    expect(await finds('Böb  Baker', ELSEWHERE)).to.equal('participant-joined');
  });
});
