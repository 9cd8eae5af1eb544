/** SIGKILL of the server, of an engine, of all, at random moments under load: nothing acknowledged is lost or doubled. */
import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { temporaryDirectory } from '../support/engines.js';
import { ANNALS, type Server, startServer } from '../support/server.js';

const ROUNDS = 30;
const POSTERS = 6;
/** A participant may post 40 a minute. */
const POSTS_PER_ROOM = 35;

const text = (bytes: number) => randomBytes(bytes).toString('base64url');
const signingPublicKey = { kty: 'EC', crv: 'P-256', x: text(32), y: text(32) };

interface Room {
  readonly roomId: string;
  readonly sessionToken: string;
  /** Nonces of the messages that were acknowledged. */
  readonly acknowledged: string[];
}

describe('killed at any moment', function () {
  this.timeout(400_000);
  const directory = temporaryDirectory();
  const rooms: Room[] = [];
  let server: Server | undefined;

  const start = async () => {
    server = await startServer(directory.path, ['--rooms-create-per-hour', '1000000', '--log-level', 'info']);
    return server;
  };
  after(async () => {
    await server?.stop('SIGKILL');
    directory.remove();
  });

  /** The answer, or undefined when there was none: then nobody knows whether it was done. */
  async function call(path: string, body: object, headers: { [name: string]: string } = {}) {
    try {
      const answer = await fetch(`${server?.urls.rooms}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(15_000),
      });
      return { status: answer.status, body: (await answer.json()) as Omit<Room, 'acknowledged'> };
    } catch {
      return undefined;
    }
  }

  /** Posts until told to stop; what got no answer is sent again, as a client would, under the same key. */
  async function post(over: () => boolean, alive: () => boolean) {
    while (!over()) {
      const made = await call('/rooms', { signingPublicKey });
      if (made?.status !== 201) {
        await delay(20);
        continue;
      }
      const room: Room = { ...made.body, acknowledged: [] };
      rooms.push(room);
      for (let index = 0; index < POSTS_PER_ROOM && !over(); index++) await postOne(room, index, alive);
    }
  }

  async function postOne(
    { roomId, sessionToken, acknowledged }: Room,
    messageIndex: number,
    alive: () => boolean,
  ) {
    const nonce = text(12);
    const same = { keyVersion: 1, chainId: text(16), chainKeyNonce: text(12), chainKeyCiphertext: text(48) };
    const envelope = { ...same, messageIndex, nonce, ciphertext: text(100), signature: text(64) };
    const headers = { authorization: `Bearer ${sessionToken}`, 'idempotency-key': randomUUID() };
    while (alive()) {
      const answer = await call(`/rooms/${roomId}/messages`, envelope, headers);
      if (answer?.status === 201) {
        acknowledged.push(nonce);
        return;
      }
      if (answer && answer.status !== 503) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
      await delay(20);
    }
  }

  const kill = (pid: number | undefined) => pid !== undefined && process.kill(pid, 'SIGKILL');

  it(`loses and doubles nothing that it acknowledged, ${ROUNDS} times over`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const running = server ?? (await start());
      let over = false;
      let down = false;
      const posters = Promise.all(
        Array.from({ length: POSTERS }, () =>
          post(
            () => over,
            () => !down,
          ),
        ),
      );
      await delay(30 + Math.random() * 300);
      const victim = round % 4;
      if (victim === 0) {
        kill(running.enginePids.at(-1));
        const before = running.enginePids.length;
        while (running.enginePids.length === before) await delay(20);
      } else if (victim === 1) {
        kill(running.enginePids[0]);
        kill(running.child.pid);
      } else if (victim === 2) {
        kill(running.child.pid);
      } else {
        for (const pid of [...running.enginePids.slice(-2), running.child.pid]) kill(pid);
      }
      over = true;
      if (victim !== 0) {
        down = true;
        await running.stop('SIGKILL');
        server = undefined;
      }
      await posters;
    }

    const last = server ?? (await start());
    let acknowledged = 0;
    for (const room of rooms) {
      const answer = await fetch(`${last.urls.rooms}/rooms/${room.roomId}/state`, {
        headers: { authorization: `Bearer ${room.sessionToken}` },
      });
      const { messages } = (await answer.json()) as { messages: readonly { nonce: string }[] };
      const found = messages.map(({ nonce }) => nonce);
      expect(answer.headers.get('consistency')).to.equal(null);
      expect(new Set(found).size, 'nothing twice').to.equal(found.length);
      expect(found, 'nothing lost').to.include.members(room.acknowledged);
      acknowledged += room.acknowledged.length;
    }
    expect(acknowledged).to.be.greaterThan(ROUNDS);
  });

  it('has read models that equal their rebuild', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      ANNALS,
      ...['reindex', '--check', '--data-dir', directory.path],
    ]);
    expect(stdout).to.match(/rooms\.state: equals its rebuild/);
  });
});
