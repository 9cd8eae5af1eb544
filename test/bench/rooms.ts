/** Benchmarks the room service over HTTP with the whole program: posting and reading. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { anonymousMB } from '@annals/engines/testing/process-usage.js';
import type { Server } from '../support/server-process.js';
import { envelope, load, makeRooms, posts, reads, roomWithMessages, signingPublicKey } from './load.js';
import { startUsual } from './started.js';

function atRest(server: Server): string {
  const [own = 0, ...engines] = [server.child.pid ?? 0, ...server.enginePids].map(anonymousMB);
  const all = own + engines.reduce((sum, each) => sum + each, 0);
  return `${all.toFixed(0)} MB (server ${own.toFixed(0)}, engines ${engines.map((each) => each.toFixed(0)).join(' and ')})`;
}

/** `quick` measures for 2 s instead of 8 s, and stores a tenth of the messages. */
export async function bench(print: (line: string) => void, { quick = false }: { quick?: boolean }): Promise<void> {
  const duration = quick ? 2 : 8;
  const directory = temporaryDirectory();
  const koa = fork(fileURLToPath(new URL('./plain-koa.js', import.meta.url)));
  const [port] = (await once(koa, 'message')) as [number];
  const headers = { 'content-type': 'application/json' };
  const plain = await load(`http://127.0.0.1:${port}`, { duration }, () => ({
    method: 'POST',
    path: '/',
    headers,
    body: envelope(),
  }));
  print(`ceiling: plain koa with koa-body, 32 connections: ${plain.text}`);
  koa.kill();

  const flags = ['--rooms-create-per-hour', '1000000', '--log-level', 'info'];
  let server = await startUsual(directory.path, flags);
  print(`start to ready on an empty directory: ${server.ms} ms`);
  print(`memory at rest: ${atRest(server)}`);
  try {
    const base = server.urls.rooms ?? '';
    const first = await makeRooms(base, quick ? 300 : 1200);
    await load(base, { amount: 2000 }, posts(first));
    const posting = await load(base, { duration }, posts(await makeRooms(base, quick ? 300 : 1200)));
    print(`posting a message, 32 connections: ${posting.text} (${ratio(posting, plain)} of plain koa)`);

    const stored = quick ? 10_000 : 100_000;
    const authors = await makeRooms(base, stored / 39);
    await load(base, { amount: stored }, posts(authors));
    const loaded = await load(base, { duration }, posts(await makeRooms(base, quick ? 300 : 1200)));
    print(`posting with ${stored} messages stored: ${loaded.text}`);

    const full = await roomWithMessages(base, 50);
    const reading = await load(base, { duration }, reads(full));
    print(`reading a room with 50 messages: ${reading.text}`);
    const created = await load(base, { duration }, () => ({
      method: 'POST',
      path: '/rooms',
      headers,
      body: JSON.stringify({ signingPublicKey }),
    }));
    print(`creating a room: ${created.text}`);
    print(`memory after the load: ${atRest(server)}`);
    await server.stop();
    server = await startUsual(directory.path, flags);
    print(`start to ready with the log of this run: ${server.ms} ms`);
  } finally {
    await server.stop();
    directory.remove();
  }
}

const ratio = (a: { perSecond: number }, b: { perSecond: number }) =>
  `${((100 * a.perSecond) / b.perSecond).toFixed(0)} %`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bench(console.log, { quick: process.argv.includes('--quick') });
}
