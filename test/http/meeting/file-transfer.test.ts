/** File transfers in meetings: complete and in order, at the pace of the receiver, without affecting others. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { enterRoom, type MeetingMessage, type Person } from '../../support/meeting-client.js';
import { useMeeting } from '../../support/meeting-node.js';

/** Far more than sockets and servers buffer. */
const CHUNKS = 190;

describe('file transfer in a meeting', function () {
  this.timeout(60_000);
  const meetings = useMeeting({ '--server-trusted-proxies': '127.0.0.1' });
  const people: Person[] = [];
  afterEach(() => {
    for (const { socket } of people.splice(0)) socket.terminate();
  });
  const joinAs = async (roomId: string, name: string) => {
    const person = await enterRoom(meetings.base, roomId, name, { isHost: true });
    people.push(person);
    return person;
  };
  const send = (from: Person, to: Person, transferId: string) => {
    const chunk = 'A'.repeat(64 * 1024);
    for (let index = 0; index < CHUNKS; index++)
      from.send('file-chunk', { targetId: to.id, transferId, chunk, index, total: CHUNKS });
  };
  /** Waits until the sender is blocked because the receiver does not read. */
  async function untilBlocked({ socket }: Person) {
    let [last, same] = [-1, 0];
    await eventually(() => {
      same = socket.bufferedAmount === last ? same + 1 : 0;
      last = socket.bufferedAmount;
      return last > 0 && same > 20;
    });
  }
  const chunksOf = ({ inbox }: Person, transferId: string): readonly MeetingMessage[] =>
    inbox.filter((each) => each.type === 'file-chunk' && each.transferId === transferId);

  it('is complete and in order for a receiver who pauses, from several senders', async () => {
    const room = 'FILE01';
    const [ada, bob, cleo] = [await joinAs(room, 'Ada'), await joinAs(room, 'Bob'), await joinAs(room, 'Cleo')];
    ada.socket.pause();
    send(bob, ada, 'of-bob');
    send(cleo, ada, 'of-cleo');
    const dan = await joinAs(room, 'Dan');
    dan.send('chat', { text: 'Meanwhile' });
    await dan.waitFor('chat');
    await bob.waitFor('chat');
    ada.socket.resume();
    for (const name of ['of-bob', 'of-cleo']) {
      await eventually(() => chunksOf(ada, name).length === CHUNKS);
      expect(chunksOf(ada, name).map(({ index }) => index)).to.deep.equal(
        Array.from({ length: CHUNKS }, (_, index) => index),
      );
      expect(chunksOf(ada, name).every(({ chunk }) => String(chunk).length === 64 * 1024)).to.equal(true);
    }
    await ada.waitFor('chat');
  });

  it('stops blocking its sender when the receiver disconnects', async () => {
    const room = 'FILE02';
    const [ada, bob] = [await joinAs(room, 'Ada'), await joinAs(room, 'Bob')];
    ada.socket.pause();
    send(bob, ada, 'lost');
    bob.send('chat', { text: 'After it' });
    ada.socket.terminate();
    const chat = await bob.waitFor('chat');
    expect(chat.text).to.equal('After it');
  });

  it('follows the pace of the receiver, as do many offers; nobody is disconnected', async () => {
    const room = 'FILE03';
    const [ada, bob] = [await joinAs(room, 'Ada'), await joinAs(room, 'Bob')];
    ada.socket.pause();
    const sdp = 'x'.repeat(1000 * 1000);
    const OFFERS = 30;
    for (let n = 0; n < OFFERS; n++) bob.send('offer', { targetId: ada.id, sdp, n });
    await untilBlocked(bob);
    ada.socket.resume();
    await eventually(() => ada.inbox.filter(({ type }) => type === 'offer').length === OFFERS);
    expect(ada.inbox.flatMap(({ type, n }) => (type === 'offer' ? [n] : []))).to.deep.equal(
      Array.from({ length: OFFERS }, (_, n) => n),
    );
  });

  it('does not undo later state for a receiver who reads it late', async () => {
    const room = 'FILE05';
    const [ada, bob, cleo] = [await joinAs(room, 'Ada'), await joinAs(room, 'Bob'), await joinAs(room, 'Cleo')];
    ada.send('room-locked');
    await bob.waitFor('room-locked');
    bob.socket.pause();
    send(cleo, bob, 'of-cleo');
    // Now Bob's buffers are full, and the following messages wait.
    await untilBlocked(cleo);
    ada.send('chat', { text: 'Meanwhile' });
    ada.send('room-locked');
    ada.send('participant-updated', {});
    await eventually(() => ada.inbox.filter(({ type }) => type === 'room-locked').length === 2);
    ada.send('room-unlocked');
    ada.send('participant-updated', { isMuted: true });
    await ada.waitFor('room-unlocked');
    await ada.answered();
    bob.socket.resume();
    await eventually(() => chunksOf(bob, 'of-cleo').length === CHUNKS);
    ada.send('chat', { text: 'After it' });
    await bob.waitFor(({ text }) => text === 'After it');
    const last = (kind: string) => bob.inbox.findLast(({ type }) => type.startsWith(kind));
    expect(last('room-')).to.include({ type: 'room-unlocked' });
    expect(last('participant-updated')).to.include({ participantId: ada.id, isMuted: true });
  });

  it('rejects messages that grow much larger when parsed, and keeps the connection', async () => {
    const room = 'FILE04';
    const [ada, bob] = [await joinAs(room, 'Ada'), await joinAs(room, 'Bob')];
    const offer = (more: string) => `{"type":"offer","targetId":"${ada.id}","sdp":"","more":${more}}`;
    bob.socket.send(offer(`[${Array(200_000).fill('1e20')}]`));
    bob.socket.send(offer('['.repeat(20_000) + ']'.repeat(20_000)));
    bob.socket.send(offer('[1e20]'));
    await bob.answered();
    await ada.waitFor('offer');
    expect(ada.inbox.filter(({ type }) => type === 'offer')).to.have.length(1);
    expect(bob.inbox.filter(({ code }) => code === 'INVALID_MESSAGE')).to.have.length(2);
  });
});
