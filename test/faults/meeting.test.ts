/** Meetings across processes: signaling is relayed, participants of dead processes leave, and returning ones keep their identity. */
import { readFileSync } from 'node:fs';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, startServers, temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { enterRoom, type MeetingMessage, open, type Person, peopleAt } from '../support/meeting-client.js';
import { bytesIn, type Server, shownIn, startServer } from '../support/server-process.js';
import { startProxy } from '../support/tcp-proxy.js';

const PLENTY = ['--meeting-connect-per-minute', '100000', '--meeting-create-per-minute', '100000'];
/** Participants of a dead node leave soon. */
const SOON = ['--meeting-return-seconds', '0.3'];

const isAbout = (type: string, id: string) => (message: MeetingMessage) =>
  message.type === type && message.participantId === id;

/** Must not be stored anywhere. */
const SDP = 'v=0 o=- 4611731400430051336 2 IN IP4 quokka quokka quokka';
const CANDIDATE = 'candidate:842163049 1 udp 1677729535 numbat numbat numbat';
const BYTES = Buffer.from('a bandicoot in a biscuit tin, a bandicoot in a biscuit tin').toString('base64');

describe('meetings on two processes of one directory', function () {
  this.timeout(300_000);
  const directory = temporaryDirectory();
  let [one, two] = [] as Server[];
  before(async () => {
    one = await startServer(directory.path, ['meeting', ...PLENTY, ...SOON]);
    two = await startServer(directory.path, ['meeting', ...PLENTY, ...SOON]);
  });
  after(async () => {
    await two?.stop('SIGKILL');
    await one?.stop('SIGKILL');
    directory.remove();
  });

  it('relay direct messages to their target only, in order, with their sender, and store none', async () => {
    const ada = await enterRoom(one!.urls.meeting!, 'ACROSS', 'Ada', { isHost: true });
    const bob = await enterRoom(two!.urls.meeting!, 'ACROSS', 'Bob');
    const cleo = await enterRoom(two!.urls.meeting!, 'ACROSS', 'Cleo');
    for (const each of [ada, bob]) await each.waitFor(isAbout('participant-joined', cleo.id));
    for (const each of [ada, bob, cleo]) each.news();
    const to = { targetId: bob.id };
    ada.send('offer', { ...to, sdp: SDP });
    for (let index = 0; index < 20; index++)
      ada.send('ice-candidate', {
        ...to,
        candidate: { candidate: `${CANDIDATE} ${index}`, sdpMid: null, sdpMLineIndex: 0 },
      });
    const transfer = { ...to, transferId: 't1' };
    ada.send('file-offer', { ...transfer, fileName: 'x.txt', fileSize: 100, fileType: '' });
    for (let index = 0; index < 20; index++) ada.send('file-chunk', { ...transfer, chunk: BYTES, index, total: 20 });
    await bob.waitFor(({ type, index }) => type === 'file-chunk' && index === 19);
    bob.send('answer', { targetId: ada.id, sdp: SDP, participantId: cleo.id });
    await ada.waitFor('answer');
    await cleo.answered();
    const news = bob.news();
    expect(news.every(({ participantId }) => participantId === ada.id)).to.equal(true);
    expect(news.map(({ type }) => type)).to.deep.equal([
      'offer',
      ...Array<string>(20).fill('ice-candidate'),
      'file-offer',
      ...Array<string>(20).fill('file-chunk'),
    ]);
    expect(news.filter(({ type }) => type === 'file-chunk').map(({ index }) => index)).to.deep.equal(
      Array.from({ length: 20 }, (_, index) => index),
    );
    expect(ada.news().map(({ type, participantId }) => [type, participantId])).to.deep.equal([['answer', bob.id]]);
    expect(cleo.news()).to.deep.equal([]);
  });

  it('slow down senders of large files to slow readers on another process without loss', async () => {
    const [here, there] = [one!.urls.meeting!, two!.urls.meeting!];
    const senders = [await enterRoom(here, 'LARGE1', 'Ada', { isHost: true })];
    for (const name of ['Abe', 'Amy', 'Ann', 'Aya']) senders.push(await enterRoom(here, 'LARGE1', name));
    const bob = await enterRoom(there, 'LARGE1', 'Bob');
    const eve = await enterRoom(there, 'LARGE1', 'Eve');
    const cleo = await enterRoom(here, 'LARGE1', 'Cleo');
    for (const each of [...senders, eve]) await each.waitFor(isAbout('participant-joined', cleo.id));
    const memory = [residentOf(one!), residentOf(two!)];
    const before = await relayedBy(one!);
    bob.socket.pause();
    // Below the rate limit; 50 MB in total.
    const [chunk, total] = ['A'.repeat(64 * 1024), 160];
    for (const { socket, send } of senders)
      for (let index = 0; index < total; index++) {
        await eventually(() => socket.bufferedAmount < 16 * 1024 * 1024);
        send('file-chunk', { targetId: bob.id, transferId: 't2', chunk, index, total });
      }
    // Others are not blocked, even between the same processes: they continue until nothing reaches Bob.
    let asides = 0;
    const toBob = async () => (await relayedBy(one!)) - before - asides;
    for (let last = -1, now = await toBob(); now !== last; last = now, now = await toBob())
      for (let round = 0; round < 20; round++) {
        const index = asides++;
        cleo.send('file-chunk', { targetId: eve.id, transferId: 't3', chunk, index, total: 1 });
        await eve.waitFor((inbox) => inbox.transferId === 't3' && inbox.index === index);
      }
    // The network buffers some and the processes almost nothing: the rest stays with the senders.
    expect(await toBob()).to.be.below(500);
    bob.socket.resume();
    await eventually(() => bob.inbox.filter(({ type }) => type === 'file-chunk').length === 5 * total);
    for (const { id } of senders) {
      const chunks = bob.inbox.filter(({ type, participantId }) => type === 'file-chunk' && participantId === id);
      expect(chunks.map(({ index }) => index)).to.deep.equal(Array.from({ length: total }, (_, index) => index));
      expect(chunks.every(({ chunk: whole }) => whole === chunk)).to.equal(true);
    }
    for (const [index, server] of [one!, two!].entries())
      expect(residentOf(server) - memory[index]!).to.be.below(100 * 1024 * 1024);
  });

  it('remove participants of a killed process from the room', async () => {
    const ada = await enterRoom(one!.urls.meeting!, 'KILLED', 'Ada', { isHost: true });
    const bob = await enterRoom(two!.urls.meeting!, 'KILLED', 'Bob');
    const cleo = await enterRoom(two!.urls.meeting!, 'KILLED', 'Cleo');
    await ada.waitFor(isAbout('participant-joined', cleo.id));
    await two!.stop('SIGKILL');
    await bob.closed;
    for (const { id } of [bob, cleo]) await ada.waitFor(isAbout('participant-left', id));
    expect(ada.inbox.filter(({ type }) => type === 'participant-left').length).to.equal(2);
  });

  it('leave nothing on disk', async () => {
    await one!.stop();
    const everything = bytesIn(directory.path);
    // The sealed data is present, so that searching for plaintext is a valid check.
    for (const name of ['meeting.room-ACROSS', 'meeting.SignalRelayed.v1'])
      expect(everything.includes(name), name).to.equal(true);
    expect(shownIn(everything, [SDP, CANDIDATE, BYTES, 'A'.repeat(1000)])).to.deep.equal([]);
  });
});

describe('meetings on nodes that start and stop', function () {
  this.timeout(300_000);
  const directories = [temporaryDirectory(), temporaryDirectory()];
  const running: Server[] = [];
  let engines: Servers;
  before(async () => {
    engines = await startServers();
  });
  after(async () => {
    for (const server of running) {
      server.child.kill('SIGCONT');
      await server.stop('SIGKILL');
    }
    await engines?.stop();
    for (const { remove } of directories) remove();
  });

  async function start(index: number, flags: readonly string[] = []): Promise<string> {
    const urls = ['--event-store-url', engines.eventStoreUrl, '--mongo-url', engines.mongoUrl];
    const same = ['--mongo-database', 'test_meeting', '--secret', 'a secret that all of the nodes have got'];
    await running[index]?.stop('SIGKILL');
    running[index] = await startServer(directories[index]!.path, ['meeting', ...urls, ...same, ...PLENTY, ...flags]);
    return running[index].urls.meeting!;
  }
  async function rejoin(base: string, roomId: string, who: Person): Promise<Person> {
    const back = await open(base);
    back.send('join', { roomId, name: 'Somebody else', participantId: who.id, resumeToken: who.resumeToken });
    await back.answered();
    return back;
  }

  it('tell participants of a stopping node to return, with place, role, raised hand and lock kept', async () => {
    const flags = ['--meeting-return-seconds', '4'];
    const bases = [await start(0, flags), await start(1, flags)];
    const ada = await enterRoom(bases[0]!, 'ROLLED', 'Ada', { isHost: true });
    const bob = await enterRoom(bases[1]!, 'ROLLED', 'Bob');
    const cleo = await enterRoom(bases[0]!, 'ROLLED', 'Cleo');
    ada.send('raise-hand');
    ada.send('room-locked');
    await bob.waitFor('room-locked');
    await ada.answered();
    bob.news();
    await running[0]!.stop();
    expect((await ada.closed).code).to.equal(1012);
    expect((await cleo.closed).code).to.equal(1012);
    const back = await rejoin(bases[1]!, 'ROLLED', ada);
    expect(back.id).to.equal(ada.id);
    expect(back.inbox[0]).to.deep.include({ type: 'participant-joined', name: 'Ada', isModerator: true });
    // Only participants who do not return leave, once.
    await back.waitFor(isAbout('participant-left', cleo.id));
    back.send('lower-hand');
    await bob.waitFor('lower-hand');
    const received = bob.news().map(({ type, participantId }) => [type, participantId]);
    expect(received.filter(([type]) => type === 'participant-left')).to.deep.equal([['participant-left', cleo.id]]);
    expect(received.filter(([type]) => type === 'participant-joined')).to.deep.equal([]);
    // The other node is next.
    bases[0] = await start(0, flags);
    await running[1]!.stop();
    expect((await bob.closed).code).to.equal(1012);
    const again = await rejoin(bases[0], 'ROLLED', bob);
    expect(again.id).to.equal(bob.id);
    expect(again.inbox.map(({ type }) => type)).to.include('room-locked');
    const last = await rejoin(bases[0], 'ROLLED', back);
    last.send('offer', { targetId: bob.id, sdp: SDP });
    await again.waitFor('offer');
    for (const each of [last, again]) each.send('leave');
    await eventually(async () => (await peopleAt(bases[0]!)) === 0);
  });

  it('release senders to a frozen node; its participants leave, and return when it resumes', async () => {
    const bases = [await start(0, SOON), await start(1, SOON)];
    const ada = await enterRoom(bases[0]!, 'FROZEN', 'Ada', { isHost: true });
    const bob = await enterRoom(bases[1]!, 'FROZEN', 'Bob');
    await ada.waitFor(isAbout('participant-joined', bob.id));
    const chunk = { targetId: bob.id, transferId: 't', chunk: BYTES, total: 10 };
    ada.send('file-chunk', { ...chunk, index: 0 });
    await bob.waitFor('file-chunk');
    running[1]!.child.kill('SIGSTOP');
    for (let index = 1; index < 5; index++) ada.send('file-chunk', { ...chunk, index });
    await ada.answered();
    await ada.waitFor(isAbout('participant-left', bob.id));
    running[1]!.child.kill('SIGCONT');
    expect((await bob.closed).code).to.equal(1012);
    expect(await peopleAt(bases[1]!)).to.equal(1);
    const back = await enterRoom(bases[1]!, 'FROZEN', 'Bob');
    await ada.waitFor(isAbout('participant-joined', back.id));
    ada.send('offer', { targetId: back.id, sdp: SDP });
    await back.waitFor('offer');
    expect(ada.inbox.filter(({ type }) => type === 'participant-left').length).to.equal(1);
    back.send('leave');
    ada.send('leave');
    await eventually(async () => (await peopleAt(bases[0]!)) === 0);
  });

  it('mark participants of a frozen node as lost, and as present when it resumes in time', async () => {
    const bases = [await start(0), await start(1)];
    const ada = await enterRoom(bases[0]!, 'THAWED', 'Ada', { isHost: true });
    const bob = await enterRoom(bases[1]!, 'THAWED', 'Bob');
    await ada.waitFor(isAbout('participant-joined', bob.id));
    const shown = (connection: string) => ada.waitFor((each) => each.connection === connection);
    running[1]!.child.kill('SIGSTOP');
    await shown('lost');
    running[1]!.child.kill('SIGCONT');
    await shown('ok');
    expect(ada.inbox.filter(({ type }) => type === 'participant-left')).to.deep.equal([]);
    for (const each of [bob, ada]) each.send('leave');
    await eventually(async () => (await peopleAt(bases[0]!)) === 0);
  });

  it('keep no participant whose connection ended before the log had answered', async () => {
    const proxy = await startProxy(engines.eventStoreUrl);
    try {
      const bases = [await start(0), await start(1, ['--event-store-url', proxy.url])];
      const ada = await enterRoom(bases[0]!, 'SILENT', 'Ada', { isHost: true });
      const bob = await enterRoom(bases[1]!, 'SILENT', 'Bob');
      await ada.waitFor(isAbout('participant-joined', bob.id));
      const cleo = await open(bases[1]!);
      proxy.holdAnswers();
      cleo.send('join', { roomId: 'SILENT', name: 'Cleo' });
      const { participantId } = await ada.waitFor(({ name }) => name === 'Cleo');
      expect((await cleo.closed).code).to.equal(1013);
      proxy.releaseAnswers();
      await ada.waitFor(isAbout('participant-left', String(participantId)));
      // Bob's connection is still open.
      bob.send('raise-hand');
      await ada.waitFor(isAbout('raise-hand', bob.id));
      for (const each of [ada, bob]) each.send('leave');
      await eventually(async () => (await peopleAt(bases[0]!)) === 0);
    } finally {
      await proxy.close();
    }
  });

  it('recover at the next start who was present when the last node was killed', async () => {
    const base = await start(0, SOON);
    await running[1]!.stop('SIGKILL');
    await enterRoom(base, 'ALONE1', 'Ada', { isHost: true });
    expect(await peopleAt(base)).to.equal(1);
    await running[0]!.stop('SIGKILL');
    const again = await start(0, SOON);
    expect(await peopleAt(again)).to.equal(1);
    await eventually(async () => (await peopleAt(again)) === 0);
  });
});

const relayedBy = async ({ urls }: Server): Promise<number> => {
  const metrics = await (await fetch(`${urls.operations}/metrics`)).text();
  return Number(/^annals_relay_live_total\{service="meeting"\} (\d+)/m.exec(metrics)?.[1] ?? 0);
};

const residentOf = ({ child: { pid } }: Server): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
