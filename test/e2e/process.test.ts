/** The program as a process: starts, kills, restarts and stops. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { killOnExit } from '@annals/engines/testing/children.js';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { call, createRoom, settledState } from '../support/room-client.js';
import { ANNALS, FREE_PORTS, type Server, startServer } from '../support/server-process.js';

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('the program', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  const running: Server[] = [];
  const start = async (...services: readonly string[]) => {
    const server = await startServer(directory.path, ['rooms', ...services]);
    running.push(server);
    return server;
  };
  // Includes leftovers of a failed test, whose engines the next test would find.
  afterEach(() => Promise.all(running.splice(0).map((server) => server.stop('SIGKILL'))));
  after(() => directory.remove());

  it('serves acknowledged data after a kill, without burned rooms', async () => {
    const first = await start();
    const openRoom = await createRoom(first.urls.rooms ?? '', 'Ada');
    const burned = await createRoom(first.urls.rooms ?? '', 'Bob');
    const { id } = await openRoom.post('Still here?');
    const burn = await call(first.urls.rooms ?? '', 'POST', `/rooms/${burned.roomId}/burn`, {
      token: burned.sessionToken,
    });
    expect(burn.status).to.equal(200);
    await first.stop('SIGKILL');

    const second = await start();
    const read = (room: typeof openRoom) => settledState(second, room);
    expect((await read(openRoom)).body.messages.map((message) => message.id)).to.deep.equal([id]);
    expect((await read(burned)).status).to.equal(404);
    expect(await second.stop()).to.equal(0);
  });

  it('continues as a node when its output is lost on a full disk, and fails as a command', async () => {
    const full = openSync('/dev/full', 'w');
    const launch = (...args: readonly string[]) => {
      const child = killOnExit(spawn(process.execPath, [ANNALS, ...args], { stdio: ['ignore', full, 'pipe'] }));
      let stderr = '';
      child.stderr!.on('data', (text) => {
        stderr += text;
      });
      return { child, ended: once(child, 'exit'), stderr: () => stderr };
    };
    const config = launch('config');
    expect((await config.ended)[0]).to.equal(1);
    expect(config.stderr()).to.match(/^annals: output is lost: ENOSPC[^\n]*\n$/);

    const served = launch('serve', 'rooms', ...FREE_PORTS, '--data-dir', directory.path);
    await eventually(() => served.stderr().includes('output is lost'));
    const other = await start();
    expect(await createRoom(other.urls.rooms ?? '', 'Ada')).to.have.property('roomId');
    served.child.kill();
    expect((await served.ended)[0], 'a clean stop').to.equal(0);
    closeSync(full);
  });

  it('exits when its engines are restarted by another process, and uses those at its next start', async () => {
    const owner = await start();
    const beside = await start();
    const room = await createRoom(beside.urls.rooms ?? '', 'Ada');
    const { id } = await room.post('Still here?');
    await owner.stop('SIGKILL');
    const ended = once(beside.child, 'exit');
    await start();
    expect((await ended)[0], 'so that whoever watches it starts it again').to.equal(1);
    const again = await start();
    const { body } = await settledState(again, room);
    expect(body.messages.map((message) => message.id)).to.deep.equal([id]);
  });

  it('keeps running, and stops cleanly, when nobody reads its output', async () => {
    const first = await start();
    const out = first.child.stdout!;
    out.pause();
    // Each request logs a line; a pipe buffers only some hundred kilobytes.
    const headers = { 'x-request-id': 'x'.repeat(128) };
    const ask = async () => (await fetch(`${first.urls.rooms}/nothing`, { headers })).text();
    for (let round = 0; round < 30; round++) await Promise.all(Array.from({ length: 50 }, ask));
    expect((await fetch(`${first.urls.rooms}/health`)).status).to.equal(200);
    expect(await first.stop()).to.equal(0);
    out.resume();
  });

  for (const [command, moment, ...services] of [
    ['serve', 'engine started', 'rooms'],
    ['serve', 'rooms on', 'logs', 'rooms'],
    ['serve', 'ready'],
    ['engines', 'engine started'],
    ['engines', 'ready'],
  ] as const) {
    it(`stops in order and leaves no engine running when ${command} gets a signal at “${moment}”`, async () => {
      const fresh = temporaryDirectory();
      const child = killOnExit(
        spawn(process.execPath, [ANNALS, command, ...services, '--data-dir', fresh.path, ...FREE_PORTS]),
      );
      const pids: number[] = [];
      let isSignaled = false;
      createInterface({ input: child.stdout }).on('line', (line) => {
        const { msg, engine, pid } = JSON.parse(line);
        if (engine && pid) pids.push(pid);
        if (isSignaled || !msg.startsWith(moment)) return;
        isSignaled = true;
        child.kill('SIGTERM');
      });
      const [code] = await once(child, 'exit');
      expect(code).to.equal(0);
      await eventually(() => pids.every((pid) => !isAlive(pid)));
      fresh.remove();
    });
  }

  it('tells streams to reconnect when it stops, and completes pending requests', async () => {
    const server = await start('logs');
    const ada = await createRoom(server.urls.rooms ?? '', 'Ada');
    const stream = await fetch(`${server.urls.rooms}/rooms/${ada.roomId}/events`, {
      headers: { authorization: `Bearer ${ada.sessionToken}` },
    });
    const others = await fetch(`${server.urls.logs}/api/logs/tail`);
    const slow = request(`${server.urls.rooms}/rooms`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': '2', expect: '100-continue' },
    });
    const answered = Promise.allSettled([once(slow, 'response')]);
    slow.flushHeaders();
    await once(slow, 'continue');
    const posts = Array.from({ length: 10 }, async (_, index) => ada.post(`last words ${index}`));
    const projectionProgress = Promise.allSettled(posts);
    await posts[0];
    const stopped = server.stop();
    for (const each of [stream, others]) expect(await each.text()).to.match(/retry: \d+/);
    // Afterwards, as services do not wait for each other's pending requests.
    slow.end('{}');
    const [answer] = await answered;
    expect(answer?.status === 'fulfilled' && answer.value[0].statusCode).to.equal(400);
    const outcomes = await projectionProgress;
    expect(await stopped).to.equal(0);

    const again = await start();
    const { body } = await settledState(again, ada);
    const acknowledged = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.id] : []));
    expect(acknowledged).to.have.length.greaterThan(0);
    expect(body.messages.map(({ id }) => id)).to.include.members(acknowledged);
  });
});
