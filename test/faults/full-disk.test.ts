/** A disk that is full: writes are refused and the node says so; with room again all goes on by itself. */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/condition.js';
import { temporaryDirectory } from '../support/engines.js';
import { call, createRoom } from '../support/room-client.js';
import { type Server, startServer } from '../support/server.js';

interface State {
  readonly messages: readonly { readonly id: string }[];
}

const text = (bytes: number) => randomBytes(bytes).toString('base64url');

/** Limits of running processes are set by a tool of Linux. */
const canLimit = spawnSync('prlimit', ['--version']).status === 0;

(canLimit ? describe : describe.skip)('a full disk', function () {
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

  /** No file of the program and its engines, also of those started from now on, can outgrow this. */
  const limitFiles = (most: number | 'unlimited') => {
    for (const pid of [server.child.pid, ...Object.values(server.pids)]) {
      try {
        execFileSync('prlimit', ['--pid', String(pid), `--fsize=${most}:`], { stdio: 'ignore' });
      } catch {
        // An engine that has just died; the next one takes after the program.
      }
    }
  };

  it('is told while it lasts, loses nothing, and is over when there is room', async () => {
    const base = server.urls.rooms ?? '';
    const room = await createRoom(base, 'Ada');
    const post = async () => {
      const envelope = { ...(await room.seal('full')), nonce: text(12), ciphertext: text(20_000) };
      const answer = await call<{ message: { id: string } }>(base, 'POST', `/rooms/${room.roomId}/messages`, {
        token: room.sessionToken,
        body: envelope,
      });
      return answer;
    };
    const ready = async () => (await fetch(`${server.urls.operations}/health/ready`)).status;
    const stranger = async () => (await fetch(`${base}/rooms/${text(16)}/state`)).status;
    const acknowledged: string[] = [(await post()).body.message.id];
    await eventually(async () => (await ready()) === 200);

    limitFiles(statSync(join(directory.path, 'eventstore/log/data.mdb')).size + 65_536);
    let refused = 0;
    while (refused < 3) {
      const { status, body } = await post();
      if (status === 201) acknowledged.push(body.message.id);
      else {
        expect(status).to.equal(503);
        // Reading is possible all the same.
        await eventually(async () => (await stranger()) === 404);
        expect(await ready()).to.equal(503);
        refused++;
      }
    }

    limitFiles('unlimited');
    await eventually(async () => (await ready()) === 200);
    await eventually(async () => {
      const { status, body } = await post();
      return status === 201 && acknowledged.push(body.message.id);
    });
    const found = await eventually(async () => {
      const answer = await call<State>(base, 'GET', `/rooms/${room.roomId}/state`, {
        token: room.sessionToken,
      });
      return answer.status === 200 && !answer.headers.has('consistency') && answer.body.messages;
    });
    expect(found.map(({ id }) => id)).to.include.members(acknowledged);
  });
});
