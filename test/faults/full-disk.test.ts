/** A full disk: writes are refused immediately and health reports it; with space, service resumes by itself. */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { call, createRoom } from '../support/room-client.js';
import { type Server, startServer } from '../support/server-process.js';

interface State {
  readonly messages: readonly { readonly id: string }[];
}

const text = (bytes: number) => randomBytes(bytes).toString('base64url');

/** A Linux tool sets limits of running processes. */
const canLimit = spawnSync('prlimit', ['--version']).status === 0;

/** A room on a server, whose messages show what was stored. */
async function openRoom(server: Server) {
  const base = server.urls.rooms ?? '';
  const room = await createRoom(base, 'Ada');
  const acknowledged: string[] = [];
  return {
    /** Resolves to the status of the answer, which must come promptly. */
    async post(): Promise<number> {
      const envelope = { ...(await room.seal('full')), nonce: text(12), ciphertext: text(20_000) };
      const began = performance.now();
      const { status, body, headers } = await call<{ message: { id: string } }>(
        base,
        'POST',
        `/rooms/${room.roomId}/messages`,
        { token: room.sessionToken, body: envelope },
      );
      if (status === 201) acknowledged.push(body.message.id);
      else {
        expect(status).to.equal(503);
        expect(headers.get('retry-after')).to.match(/^\d+$/);
        expect(performance.now() - began).to.be.below(AT_ONCE_MS);
      }
      return status;
    },
    /** Reads something that is in no cache. */
    read: async () => (await fetch(`${base}/rooms/${text(16)}/state`)).status,
    async isAllThere(): Promise<void> {
      const found = await eventually(async () => {
        const answer = await call<State>(base, 'GET', `/rooms/${room.roomId}/state`, {
          token: room.sessionToken,
        });
        return answer.status === 200 && !answer.headers.has('consistency') && answer.body.messages;
      });
      expect(found.map(({ id }) => id)).to.include.members(acknowledged);
    },
  };
}

/** Less than a second attempt would take; more than a busy machine needs. */
const AT_ONCE_MS = 2000;

async function readiness(server: Server) {
  const answer = await fetch(`${server.urls.operations}/health/ready`);
  const { checks } = (await answer.json()) as { checks: { name: string; detail?: string }[] };
  return { status: answer.status, checks };
}

const isReady = async (server: Server) => (await readiness(server)).status === 200;

/** `fill` uses up the space, `empty` frees some. */
async function goesThroughFullDisk(server: Server, fill: () => void, empty: () => void): Promise<void> {
  const room = await openRoom(server);
  expect(await room.post()).to.equal(201);
  await eventually(() => isReady(server));

  fill();
  for (let refused = 0; refused < 5; ) if ((await room.post()) === 503) refused++;
  expect(await room.read()).to.equal(404);
  const { status, checks } = await readiness(server);
  expect(status).to.equal(503);
  expect(checks).to.deep.include({
    name: 'writing to the event store',
    ok: false,
    detail: 'the disk is full',
  });

  empty();
  await eventually(() => isReady(server));
  await eventually(async () => (await room.post()) === 201);
  await room.isAllThere();
  // No process was restarted, and it was logged once.
  expect(server.enginePids).to.have.length(2);
  for (const pattern of [/^event store: .* is full/m, /^event store: .* has room again/m])
    expect(server.lines.filter((line) => pattern.test(line))).to.have.length(1);
}

(canLimit ? describe : describe.skip)('a file that may not grow', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  let server: Server;

  before(async () => {
    server = await startServer(directory.path, ['rooms']);
  });
  after(async () => {
    await server?.stop('SIGKILL');
    directory.remove();
  });

  /** No file of the program and its engines can exceed this. */
  const limitFiles = (most: number | 'unlimited') => {
    for (const pid of [server.child.pid, ...Object.values(server.pids)])
      execFileSync('prlimit', ['--pid', String(pid), `--fsize=${most}:`], { stdio: 'ignore' });
  };

  it('is reported while it lasts, loses nothing, and ends when there is space', () =>
    goesThroughFullDisk(
      server,
      () => limitFiles(statSync(join(directory.path, 'eventstore/log/data.mdb')).size + 65_536),
      () => limitFiles('unlimited'),
    ));
});

const MEGABYTE = 1 << 20;

describe('a file system without free space', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  let server: Server | undefined;

  before(function () {
    const mount = ['-t', 'tmpfs', '-o', 'size=128m', 'tmpfs', directory.path];
    if (spawnSync('mount', mount, { stdio: 'ignore' }).status !== 0) this.skip();
  });
  after(async () => {
    await server?.stop();
    spawnSync('umount', [directory.path], { stdio: 'ignore' });
    directory.remove();
  });

  it('is reported while it lasts, loses nothing, and ends when there is space', async () => {
    server = await startServer(join(directory.path, 'data'), ['rooms']);
    const ballast = join(directory.path, 'ballast');
    const leave = (bytes: number) => {
      const { bsize, bavail } = statfsSync(directory.path);
      writeFileSync(ballast, Buffer.alloc(bavail * bsize - bytes));
    };
    await goesThroughFullDisk(
      server,
      () => leave(MEGABYTE),
      () => rmSync(ballast),
    );
  });
});
