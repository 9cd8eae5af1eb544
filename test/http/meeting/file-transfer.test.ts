/** Files between people of a meeting: whole and in order, at the pace of who gets them, and nobody else notices. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { come, type Heard, type Person } from '../../support/meeting-client.js';
import { useMeeting } from '../../support/meeting-node.js';

/** Far more than what networks and servers hold of what is not read. */
const CHUNKS = 190;

describe('a file in a meeting', function () {
  this.timeout(60_000);
  const meetings = useMeeting({ '--server-trusted-proxies': '127.0.0.1' });
  const people: Person[] = [];
  afterEach(() => {
    for (const { socket } of people.splice(0)) socket.terminate();
  });
  const comes = async (roomId: string, name: string) => {
    const person = await come(meetings.base, roomId, name, { isHost: true });
    people.push(person);
    return person;
  };
  const send = (from: Person, to: Person, transferId: string) => {
    const chunk = 'A'.repeat(64 * 1024);
    for (let index = 0; index < CHUNKS; index++)
      from.say('file-chunk', { targetId: to.id, transferId, chunk, index, total: CHUNKS });
  };
  /** As much has gone as goes while nobody reads: the rest stays with who sends. */
  async function heldUp({ socket }: Person) {
    let [last, same] = [-1, 0];
    await eventually(() => {
      same = socket.bufferedAmount === last ? same + 1 : 0;
      last = socket.bufferedAmount;
      return last > 0 && same > 20;
    });
  }
  const chunksOf = ({ heard }: Person, transferId: string): readonly Heard[] =>
    heard.filter((each) => each.type === 'file-chunk' && each.transferId === transferId);

  it('comes whole and in order to who reads it late, from several at once', async () => {
    const room = 'FILE01';
    const [ada, bob, cleo] = [await comes(room, 'Ada'), await comes(room, 'Bob'), await comes(room, 'Cleo')];
    ada.socket.pause();
    send(bob, ada, 'of-bob');
    send(cleo, ada, 'of-cleo');
    const dan = await comes(room, 'Dan');
    dan.say('chat', { text: 'Meanwhile' });
    await dan.hears('chat');
    await bob.hears('chat');
    ada.socket.resume();
    for (const name of ['of-bob', 'of-cleo']) {
      await eventually(() => chunksOf(ada, name).length === CHUNKS);
      expect(chunksOf(ada, name).map(({ index }) => index)).to.deep.equal(
        Array.from({ length: CHUNKS }, (_, index) => index),
      );
      expect(chunksOf(ada, name).every(({ chunk }) => String(chunk).length === 64 * 1024)).to.equal(true);
    }
    await ada.hears('chat');
  });

  it('holds up nobody for longer than who is to get it is there', async () => {
    const room = 'FILE02';
    const [ada, bob] = [await comes(room, 'Ada'), await comes(room, 'Bob')];
    ada.socket.pause();
    send(bob, ada, 'lost');
    bob.say('chat', { text: 'After it' });
    ada.socket.terminate();
    const said = await bob.hears('chat');
    expect(said.text).to.equal('After it');
  });

  it('comes at the pace of who gets it, as offers do in masses: nobody is driven out by them', async () => {
    const room = 'FILE03';
    const [ada, bob] = [await comes(room, 'Ada'), await comes(room, 'Bob')];
    ada.socket.pause();
    const sdp = 'x'.repeat(1000 * 1000);
    const OFFERS = 30;
    for (let n = 0; n < OFFERS; n++) bob.say('offer', { targetId: ada.id, sdp, n });
    await heldUp(bob);
    ada.socket.resume();
    await eventually(() => ada.heard.filter(({ type }) => type === 'offer').length === OFFERS);
    expect(ada.heard.flatMap(({ type, n }) => (type === 'offer' ? [n] : []))).to.deep.equal(
      Array.from({ length: OFFERS }, (_, n) => n),
    );
  });

  it('takes back nothing of what has happened since, told to who reads it after it', async () => {
    const room = 'FILE05';
    const [ada, bob, cleo] = [await comes(room, 'Ada'), await comes(room, 'Bob'), await comes(room, 'Cleo')];
    ada.say('room-locked');
    await bob.hears('room-locked');
    bob.socket.pause();
    send(cleo, bob, 'of-cleo');
    // Once he has no room for more, and something has happened: what is told him now waits.
    await heldUp(cleo);
    ada.say('chat', { text: 'Meanwhile' });
    ada.say('room-locked');
    ada.say('participant-updated', {});
    await eventually(() => ada.heard.filter(({ type }) => type === 'room-locked').length === 2);
    ada.say('room-unlocked');
    ada.say('participant-updated', { isMuted: true });
    await ada.hears('room-unlocked');
    await ada.answered();
    bob.socket.resume();
    await eventually(() => chunksOf(bob, 'of-cleo').length === CHUNKS);
    ada.say('chat', { text: 'After it' });
    await bob.hears(({ text }) => text === 'After it');
    const last = (kind: string) => bob.heard.findLast(({ type }) => type.startsWith(kind));
    expect(last('room-')).to.include({ type: 'room-unlocked' });
    expect(last('participant-updated')).to.include({ participantId: ada.id, isMuted: true });
  });

  it('is understood where it is not larger by far than it came, and the connection goes on', async () => {
    const room = 'FILE04';
    const [ada, bob] = [await comes(room, 'Ada'), await comes(room, 'Bob')];
    const offer = (more: string) => `{"type":"offer","targetId":"${ada.id}","sdp":"","more":${more}}`;
    bob.socket.send(offer(`[${Array(200_000).fill('1e20')}]`));
    bob.socket.send(offer('['.repeat(20_000) + ']'.repeat(20_000)));
    bob.socket.send(offer('[1e20]'));
    await bob.answered();
    await ada.hears('offer');
    expect(ada.heard.filter(({ type }) => type === 'offer')).to.have.length(1);
    expect(bob.heard.filter(({ code }) => code === 'INVALID_MESSAGE')).to.have.length(2);
  });
});
