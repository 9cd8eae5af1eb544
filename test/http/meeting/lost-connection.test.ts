/** Connections to a meeting that end: which of them are lost and keep their place, and who may come back to it. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { come, joinedIn, type MeetingMessage, type Person, receivedBy } from '../../support/meeting-client.js';
import { useMeeting } from '../../support/meeting-node.js';

const flags = { isModerator: false, isMuted: false, isVideoOff: false, isHandRaised: false };
const provenBy = ({ id: participantId, resumeToken }: Person) => ({ participantId, resumeToken });
const isAbout = (type: string, id: string) => (message: MeetingMessage) =>
  message.type === type && message.participantId === id;

describe('a connection to a meeting that ends', function () {
  this.timeout(60_000);
  const meetings = useMeeting({ '--server-trusted-proxies': '127.0.0.1' }, 2);
  const { when } = meetings;
  const people: Person[] = [];
  let count = 0;
  let roomId: string;
  let [ada, bob]: Person[] = [];
  const comes = async (name: string, more: object = {}, base = meetings.base) => {
    const person = await come(base, roomId, name, more);
    people.push(person);
    return person;
  };
  beforeEach(async () => {
    roomId = `LOST${String(++count).padStart(2, '0')}`;
    await when('POST', '/api/rooms', { body: { roomId, maxParticipants: 2 } }).thenAnswered(201);
    ada = await comes('Ada');
    bob = await comes('Bob');
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
    it(`${how} is lost: the others are told, and the place is theirs through lock and full room`, async () => {
      const id = bob!.id;
      bob!.send('raise-hand');
      await bob!.answered();
      const inbox = await receivedBy({ ada: ada! }, ada!, async () => {
        end(bob!);
        await ada!.waitFor((each) => isAbout('participant-updated', id)(each) && each.connection === 'lost');
      });
      expect(inbox.ada).to.deep.equal([updated(id, { isHandRaised: true, connection: 'lost' })]);
      ada!.send('room-locked');
      await ada!.answered();
      expect((await comes('Cleo')).inbox[0]?.type).to.equal('waiting-room');
      let again: Person | undefined;
      const back = await receivedBy({ ada: ada! }, ada!, async () => {
        again = await comes('Somebody', provenBy(bob!));
      });
      expect(back.ada).to.deep.equal([updated(id, { isHandRaised: true, connection: 'ok' })]);
      expect(again!.news()[0]).to.deep.equal(joinedIn(roomId, again!, 'Bob', false));
      expect(again!.id).to.equal(id);
    });

  it('is taken up again by one of two sockets that come back together, on one node or two', async () => {
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
      const isLost = () => ada!.inbox.findLast(isAbout('participant-updated', person.id))?.connection === 'lost';
      await eventually(isLost);
      const both = await Promise.all(bases.map((base) => comes('Again', provenBy(person), base)));
      const out = await Promise.race(both.map((each) => each.closed.then(() => each)));
      expect((await out.closed).code).to.equal(4001);
      person = both.find((each) => each !== out)!;
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
    it(`${how} has left, and who comes back in time is who they were`, async () => {
      const id = ada!.id;
      const inbox = await receivedBy({ bob: bob! }, bob!, async () => {
        end(ada!);
        await bob!.waitFor(isAbout('participant-left', id));
        await bob!.waitFor('moderator-action');
      });
      expect(inbox.bob?.[0]).to.deep.equal({ type: 'participant-left', roomId, participantId: id });
      let again: Person | undefined;
      const back = await receivedBy({ bob: bob! }, bob!, async () => {
        again = await comes('Somebody', provenBy(ada!));
      });
      expect(back.bob).to.deep.equal([joinedIn(roomId, again!, 'Ada', true)]);
      expect(again!.id).to.equal(id);
      expect(again!.news().map(({ type, participantId }) => [type, participantId])).to.deep.equal([
        ['participant-joined', id],
        ['participant-joined', bob!.id],
      ]);
    });

  it('keeps its place for who comes back at another node, and newcomers are told that it is lost', async () => {
    const id = bob!.id;
    ada!.send('leave');
    await ada!.answered();
    bob!.socket.terminate();
    const cleo = await comes('Cleo');
    await cleo.waitFor((each) => isAbout('participant-updated', id)(each) && each.connection === 'lost');
    await eventually(async () => {
      const full = await comes('Dan', {}, meetings.bases[1]);
      return full.inbox[0]?.code === 'ROOM_FULL';
    });
    const again = await comes('Somebody', provenBy(bob!), meetings.bases[1]);
    expect(again.news()[0]).to.deep.include({ participantId: id, name: 'Bob', isModerator: true });
    await cleo.waitFor((each) => isAbout('participant-updated', id)(each) && each.connection === 'ok');
  });

  it('takes who left, and is not let back in by a full room, for a newcomer', async () => {
    const cleo = await comes('Cleo', {}, meetings.base);
    expect(cleo.inbox[0]?.code).to.equal('ROOM_FULL');
    bob!.send('leave');
    await bob!.answered();
    await comes('Dan');
    expect((await comes('Bob', provenBy(bob!))).inbox[0]?.code).to.equal('ROOM_FULL');
  });

  it('keeps a room that became empty for as long', async () => {
    roomId = `LOSF${String(count).padStart(2, '0')}`;
    const host = await comes('Host', { isHost: true, password: 'secret' });
    host.send('leave');
    await host.answered();
    expect((await comes('Eve')).inbox[0]?.code).to.equal('INVALID_PASSWORD');
    const again = await comes('Host', provenBy(host));
    expect(again.news()).to.deep.equal([joinedIn(roomId, again, 'Host', true)]);
    expect(again.id).to.equal(host.id);
  });
});
