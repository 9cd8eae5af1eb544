/** Meetings survive kills: participants, waiting room, lock and chat stay as clients saw them. */
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { enterRoom, type Person } from '../support/meeting-client.js';
import { bytesIn, run, type Server, shownIn, startServer } from '../support/server-process.js';

const FLAGS = ['meeting', '--server-trusted-proxies', '127.0.0.1', '--meeting-return-seconds', '20'];
const SAID = 'the numbat said to the quokka, and the quokka said to the numbat';

describe('a meeting on a machine that is killed', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  let server: Server;
  before(async () => {
    server = await startServer(directory.path, FLAGS);
  });
  after(async () => {
    await server?.stop();
    directory.remove();
  });

  const killAll = async () => {
    for (const pid of server.enginePids) process.kill(pid, 'SIGKILL');
    await server.stop('SIGKILL');
  };
  const metrics = async () => (await fetch(`${server.urls.operations}/metrics`)).text();
  const comes = (name: string, more: object, address: string) =>
    enterRoom(server.urls.meeting!, 'KILL01', name, more, address);
  const provenBy = ({ id: participantId, resumeToken }: Person) => ({ participantId, resumeToken });

  it('continues in the same state', async () => {
    const ada = await comes('Ada', { isHost: true }, '203.0.113.1');
    const bob = await comes('Bob', {}, '203.0.113.2');
    ada.send('room-locked');
    const cleo = await comes('Cleo', {}, '203.0.113.3');
    const dan = await comes('Dan', {}, '203.0.113.4');
    ada.send('admit-user', { targetId: cleo.id });
    await cleo.waitFor('participant-joined');
    ada.send('moderator-action', { targetId: bob.id, action: 'kick' });
    expect((await bob.closed).code).to.equal(4003);
    cleo.send('raise-hand');
    await ada.waitFor('raise-hand');
    for (let n = 0; n < 50; n++) ada.send('chat', { text: `${SAID} ${n}` });
    await cleo.waitFor(({ text }) => text === `${SAID} 49`);
    // Bob's connection is closed.
    await eventually(async () => (await metrics()).includes('annals_sockets{service="meeting"} 3\n'));
    await killAll();
    server = await startServer(directory.path, FLAGS);

    const again = await comes('Ada', provenBy(ada), '203.0.113.1');
    expect(again.news()).to.deep.equal([
      { type: 'participant-joined', ...who(ada, 'Ada'), isModerator: true, ...dark },
      { type: 'participant-joined', ...who(cleo, 'Cleo'), isModerator: false, ...dark },
      {
        type: 'participant-updated',
        roomId: 'KILL01',
        participantId: cleo.id,
        isModerator: false,
        ...dark,
        isHandRaised: true,
      },
      { type: 'room-locked', roomId: 'KILL01', participantId: ada.id, lockedBy: ada.id },
      { type: 'waiting-room', ...who(dan, 'Dan') },
    ]);
    again.send('room-unlocked');
    await again.answered();
    const kicked = await comes('Bob', {}, '203.0.113.2');
    expect(kicked.news().map(({ type }) => type)).to.deep.equal(['waiting-room']);
    for (const { socket } of [again, kicked]) socket.terminate();
  });

  it('keeps all chat messages in order, with no plaintext on disk', async () => {
    const args = ['replay', '--data-dir', directory.path, '--service', 'meeting', '--type', 'ChatSent'];
    const { code, stdout, stderr } = await run(args);
    expect(code, stderr).to.equal(0);
    const lines = stdout.split('\n').filter((line) => line.includes('ChatSent'));
    expect(lines).to.have.length(50);
    const everything = bytesIn(directory.path);
    // The sealed data is present, so that searching for plaintext is a valid check.
    expect(everything.includes('meeting.talk-')).to.equal(true);
    expect(shownIn(everything, [SAID])).to.deep.equal([]);
  });
});

const dark = { isMuted: false, isVideoOff: false };
const who = ({ id: participantId }: Person, name: string) => ({ roomId: 'KILL01', participantId, name });
