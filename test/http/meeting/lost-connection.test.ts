/** Meeting connections that end: which of them keep their place, and how participants come back. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { enterRoom, joinedIn, type MeetingMessage, type Person, receivedBy } from '../../support/meeting-client.js';
import { useMeeting } from '../../support/meeting-node.js';

const flags = { isModerator: false, isMuted: false, isVideoOff: false, isHandRaised: false };
const proofOf = ({ id: participantId, resumeToken }: Person) => ({ participantId, resumeToken });
const isOf = (type: string, id: string) => (message: MeetingMessage) =>
  message.type === type && message.participantId === id;

describe('meeting connection that ends', function () {
  this.timeout(60_000);
  const meetings = useMeeting({ '--server-trusted-proxies': '127.0.0.1' }, 2);
  const { when } = meetings;
  const people: Person[] = [];
  let count = 0;
  let roomId: string;
  let [ada, bob]: Person[] = [];
  const joinAs = async (name: string, more: object = {}, base = meetings.base) => {
    const person = await enterRoom(base, roomId, name, more);
    people.push(person);
    return person;
  };
  beforeEach(async () => {
    roomId = `LOST${String(++count).padStart(2, '0')}`;
    await when('POST', '/api/rooms', { body: { roomId, maxParticipants: 2 } }).thenAnswered(201);
    ada = await joinAs('Ada');
    bob = await joinAs('Bob');
    await ada.answered();
  });
  afterEach(() => {
    for (const { socket } of people.splice(0)) socket.terminate();
  });
  const updated = (of: string, more: object) => ({
    type: 'participant-updated',
    roomId,
    participantId: of,
    ...flags,
    ...more,
  });

  for (const [how, end] of [
    ['without a close frame', ({ socket }: Person) => socket.terminate()],
    ['with 1011', ({ socket }: Person) => socket.close(1011)],
    ['with 1012', ({ socket }: Person) => socket.close(1012)],
  ] as const)
    it(`${how} is lost: others see that, and the place is kept in a locked and full room`, async () => {
      const id = bob!.id;
      bob!.send('raise-hand');
      await bob!.answered();
      const inbox = await receivedBy({ ada: ada! }, ada!, async () => {
        end(bob!);
        await ada!.waitFor((each) => isOf('participant-updated', id)(each) && each.connection === 'lost');
      });
      expect(inbox.ada).to.deep.equal([updated(id, { isHandRaised: true, connection: 'lost' })]);
      ada!.send('room-locked');
      await ada!.answered();
      expect((await joinAs('Cleo')).inbox[0]?.type).to.equal('waiting-room');
      let again: Person | undefined;
      const back = await receivedBy({ ada: ada! }, ada!, async () => {
        again = await joinAs('Somebody', proofOf(bob!));
      });
      expect(back.ada).to.deep.equal([updated(id, { isHandRaised: true, connection: 'ok' })]);
      expect(again!.news()[0]).to.deep.equal(joinedIn(roomId, again!, 'Bob', false));
      expect(again!.id).to.equal(id);
    });

  it('is resumed by one of two concurrent sockets, on one node or two', async () => {
    const [one = '', two = ''] = meetings.bases;
    let person = bob!;
    for (const [round, bases] of [
      [one, one],
      [one, two],
      [two, one],
      [one, one],
      [two, two],
    ].entries()) {
      person.socket.terminate();
      const isLost = () => ada!.inbox.findLast(isOf('participant-updated', person.id))?.connection === 'lost';
      await eventually(isLost);
      const both = await Promise.all(bases.map((base) => joinAs('Again', proofOf(person), base)));
      const replaced = await Promise.race(both.map((each) => each.closed.then(() => each)));
      expect((await replaced.closed).code).to.equal(4001);
      person = both.find((each) => each !== replaced)!;
      const text = `round ${round}`;
      person.send('chat', { text });
      await ada!.waitFor((each) => each.type === 'chat' && each.text === text);
    }
  });

  for (const [how, end] of [
    ['with 1000', ({ socket }: Person) => socket.close(1000)],
    ['with 1001', ({ socket }: Person) => socket.close(1001)],
    ['without a code', ({ socket }: Person) => socket.close()],
  ] as const)
    it(`${how} has left, and returns as the same participant within the return period`, async () => {
      const id = ada!.id;
      const inbox = await receivedBy({ bob: bob! }, bob!, async () => {
        end(ada!);
        await bob!.waitFor(isOf('participant-left', id));
        await bob!.waitFor('moderator-action');
      });
      expect(inbox.bob?.[0]).to.deep.equal({ type: 'participant-left', roomId, participantId: id });
      let again: Person | undefined;
      const back = await receivedBy({ bob: bob! }, bob!, async () => {
        again = await joinAs('Somebody', proofOf(ada!));
      });
      expect(back.bob).to.deep.equal([joinedIn(roomId, again!, 'Ada', true)]);
      expect(again!.id).to.equal(id);
      expect(again!.news().map(({ type, participantId }) => [type, participantId])).to.deep.equal([
        ['participant-joined', id],
        ['participant-joined', bob!.id],
      ]);
    });

  it('keeps its place for a return on another node, and new participants see that it is lost', async () => {
    const id = bob!.id;
    ada!.send('leave');
    await ada!.answered();
    bob!.socket.terminate();
    const cleo = await joinAs('Cleo');
    await cleo.waitFor((each) => isOf('participant-updated', id)(each) && each.connection === 'lost');
    await eventually(async () => {
      const full = await joinAs('Dan', {}, meetings.bases[1]);
      return full.inbox[0]?.code === 'ROOM_FULL';
    });
    const again = await joinAs('Somebody', proofOf(bob!), meetings.bases[1]);
    expect(again.news()[0]).to.deep.include({ participantId: id, name: 'Bob', isModerator: true });
    await cleo.waitFor((each) => isOf('participant-updated', id)(each) && each.connection === 'ok');
  });

  it('does not let a departed participant into a full room', async () => {
    const cleo = await joinAs('Cleo', {}, meetings.base);
    expect(cleo.inbox[0]?.code).to.equal('ROOM_FULL');
    bob!.send('leave');
    await bob!.answered();
    await joinAs('Dan');
    expect((await joinAs('Bob', proofOf(bob!))).inbox[0]?.code).to.equal('ROOM_FULL');
  });

  it('keeps an empty room for the return period', async () => {
    roomId = `LOSF${String(count).padStart(2, '0')}`;
    const host = await joinAs('Host', { isHost: true, password: 'secret' });
    host.send('leave');
    await host.answered();
    expect((await joinAs('Eve')).inbox[0]?.code).to.equal('INVALID_PASSWORD');
    const again = await joinAs('Host', proofOf(host));
    expect(again.news()).to.deep.equal([joinedIn(roomId, again, 'Host', true)]);
    expect(again.id).to.equal(host.id);
  });
});
