/** Kicks apply to a person, recognised by their token or by network and name together; others of the network are not affected. */
import { expect } from 'chai';
import { enterRoom, type Person } from '../../support/meeting-client.js';
import { useMeeting } from '../../support/meeting-node.js';

describe('kicked participant', function () {
  this.timeout(60_000);
  const meetings = useMeeting({ '--server-trusted-proxies': '127.0.0.1' });
  const people: Person[] = [];
  let count = 0;
  let roomId: string;
  let [ada, bob]: Person[] = [];
  const [NETWORK, OTHER_NETWORK] = ['203.0.113.5', '203.0.113.6'];
  const joinFrom = async (name: string, from: string, more: object = {}) => {
    const person = await enterRoom(meetings.base, roomId, name, more, from);
    people.push(person);
    return person;
  };
  beforeEach(async () => {
    roomId = `KICK${String(++count).padStart(2, '0')}`;
    ada = await joinFrom('Ada', NETWORK, { isHost: true });
    bob = await joinFrom('Böb  Baker', NETWORK);
    ada.send('moderator-action', { targetId: bob.id, action: 'kick' });
    await bob.closed;
  });
  afterEach(() => {
    for (const { socket } of people.splice(0)) socket.terminate();
  });
  const firstType = async (name: string, from: string, more: object = {}) =>
    (await joinFrom(name, from, more)).inbox[0]?.type;
  const proof = () => ({ participantId: bob!.id, resumeToken: bob!.resumeToken });

  it('waits when joining under the same name from the same network, however the name is written', async () => {
    expect(await firstType('Böb  Baker', NETWORK)).to.equal('waiting-room');
    expect(await firstType(' BOB baker ', NETWORK)).to.equal('waiting-room');
  });

  it('waits when presenting their token, under any name and from anywhere, even after unlocking', async () => {
    const back = await joinFrom('Somebody', OTHER_NETWORK, proof());
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

  it('waits in a room that everybody else has left, until the next participant admits them', async () => {
    ada!.send('leave');
    await ada!.answered();
    const back = await joinFrom('Somebody', OTHER_NETWORK, proof());
    expect(back.inbox[0]?.type).to.equal('waiting-room');
    const cleo = await joinFrom('Cleo', OTHER_NETWORK);
    expect(cleo.inbox[0]).to.include({ type: 'participant-joined', isModerator: true });
    await cleo.waitFor(({ type, participantId }) => type === 'waiting-room' && participantId === back.id);
    expect(back.inbox.map(({ type }) => type)).not.to.include('participant-joined');
    cleo.send('admit-user', { targetId: back.id });
    const own = await back.waitFor('participant-joined');
    expect(own).to.include({ participantId: back.id, isModerator: false });
  });

  it('does not affect others of the same network, or of the same name elsewhere', async () => {
    expect(await firstType('Cleo', NETWORK)).to.equal('participant-joined');
    expect(await firstType('Böb  Baker', OTHER_NETWORK)).to.equal('participant-joined');
  });
});
