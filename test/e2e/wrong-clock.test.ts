/** Wrong clocks: ahead of the stores' clock, which is reported; or together with it, which heals once set right. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { call, createRoom } from '../support/room-client.js';
import { type Running, type Server, start, startServer } from '../support/server-process.js';

const HOUR_MS = 3_600_000;

describe('a node whose clock is five hours ahead', () => {
  const directory = temporaryDirectory();
  const shift = join(directory.path, 'shift.mjs');
  let engines: Running;
  let right: Server;
  let wrong: Server;

  before(async () => {
    engines = start(['engines', '--data-dir', directory.path, '--log-format', 'json']);
    await engines.printed(/"ready"/);
    writeFileSync(shift, `const { now } = Date; Date.now = () => now() + ${5 * HOUR_MS};\n`);
    right = await startServer(directory.path, ['rooms']);
    wrong = await startServer(directory.path, ['rooms'], {
      NODE_OPTIONS: `--import=${pathToFileURL(shift)}`,
    });
  });
  after(async () => {
    await Promise.all([right?.stop('SIGKILL'), wrong?.stop('SIGKILL')]);
    engines.process.kill('SIGKILL');
    await engines.ended;
    directory.remove();
  });

  const health = async ({ urls }: Server) => {
    const answer = await fetch(`${urls.operations}/health/ready`);
    const { checks } = (await answer.json()) as { checks: { name: string; detail?: string }[] };
    const clock = checks.find(({ name }) => name === "this machine's clock");
    return { status: answer.status, detail: clock?.detail };
  };
  const aheadOf = async ({ urls }: Server) => {
    const metrics = await (await fetch(`${urls.operations}/metrics`)).text();
    return Number(/^annals_clock_ahead_seconds (\S+)$/m.exec(metrics)?.[1]);
  };

  it('reports the difference in log, health and metrics, and keeps serving', async () => {
    expect(wrong.lines.filter((line) => line.includes('differ by more than 2 minutes'))).to.have.length(1);
    expect((await health(wrong)).detail).to.match(/^1[78]\d{3} s ahead of the event store's/);
    expect((await health(wrong)).status).to.equal(200);
    expect(await aheadOf(wrong)).to.be.closeTo(18_000, 60);
    expect(await health(right)).to.deep.equal({ status: 200, detail: undefined });
    expect(await aheadOf(right)).to.be.closeTo(0, 60);
  });

  it('admits room participants that another node admits, with equal times', async () => {
    const ada = await createRoom(right.urls.rooms ?? '', 'Ada');
    const bob = await createRoom(wrong.urls.rooms ?? '', 'Bob');
    for (const { roomId, sessionToken: token } of [ada, bob]) {
      await eventually(async () => {
        const states = [right, wrong].map(({ urls }) =>
          call<{ expiresAt: string }>(urls.rooms ?? '', 'GET', `/rooms/${roomId}/state`, { token }),
        );
        for (const { status, body } of await Promise.all(states)) {
          if (status !== 200) return false;
          expect(Date.parse(body.expiresAt)).to.be.closeTo(Date.now() + HOUR_MS, 120_000);
        }
        return true;
      });
    }
  });
});

describe('a machine that starts with its clock forty days ahead', () => {
  const directory = temporaryDirectory();
  const shift = join(directory.path, 'shift.mjs');
  let server: Server | undefined;

  after(async () => {
    await server?.stop('SIGKILL');
    directory.remove();
  });

  const restart = async (days: number) => {
    await server?.stop();
    writeFileSync(shift, `const { now } = Date; Date.now = () => now() + ${days * 24 * HOUR_MS};\n`);
    const env = { NODE_OPTIONS: `--import=${pathToFileURL(shift)}` };
    server = await startServer(join(directory.path, 'data'), ['logs'], env);
    return server;
  };
  const ingest = async ({ urls }: Server, message: string) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ message });
    const { status } = await fetch(`${urls.logs}/api/ingest`, { method: 'POST', headers, body });
    return status === 200;
  };
  const messages = async ({ urls }: Server) => {
    const answer = await fetch(`${urls.logs}/api/logs?order=asc`);
    const { entries } = (await answer.json()) as { entries: { message: string }[] };
    return entries.map(({ message }) => message);
  };

  it('accepts records once its clock is right, although retention has run', async () => {
    expect(await ingest(await restart(0), 'before')).to.equal(true);
    const wrong = await restart(40);
    await eventually(async () => (await messages(wrong)).length === 0);
    const right = await restart(0);
    // The first request learns that its day has expired.
    await eventually(() => ingest(right, 'after'));
    expect(await messages(right)).to.deep.equal(['after']);
  });
});
