/**
 * Benchmarks an empty chat, one with many stored messages and, if given, another build with the same number, in alternation:
 * posting, reading, searching, starting, catching up and rebuilding.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { anonymousMB, processorMs } from '@annals/engines/testing/process-usage.js';
import { ask, devLogin } from '../support/http-spec.js';
import { NO_LIMITS, type Server } from '../support/server-process.js';
import { load, type Request } from './load.js';
import { startUsual } from './started.js';

interface Options {
  readonly quick?: boolean;
  readonly stored?: number;
  readonly beside?: string;
}

/** A running chat with one channel of its own and the hundred channels that hold the stored messages. */
interface Served {
  readonly name: string;
  readonly server: Server;
  readonly base: string;
  readonly token: string;
  readonly one: string;
  readonly hundred: readonly string[];
  /** A message in each of twenty channels, with replies. */
  readonly parents: readonly string[];
  /** A message before the newest ones in each of twenty channels; its own parent where there are few. */
  readonly old: readonly string[];
  /** Number of requests sent so far. */
  requests: number;
}

const ROUNDS = 3;

const OWN_BUILD = fileURLToPath(new URL('../../..', import.meta.url));

const pidsOf = ({ child, enginePids }: Server) => [child.pid ?? 0, ...enginePids];

/** Processor milliseconds of the server and of the engines. */
function spent(server: Server): readonly [own: number, engines: number] {
  const [own = 0, ...engines] = pidsOf(server).map(processorMs);
  return [own, engines.reduce((sum, each) => sum + each, 0)];
}

const memoryOf = (server: Server) =>
  `${pidsOf(server)
    .map((pid) => anonymousMB(pid).toFixed(0))
    .join(' + ')} MB`;

const workloads: { readonly [what: string]: (chat: Served) => Omit<Request, 'headers'> } = {
  'posting into one channel': (chat) => post(chat, chat.one),
  'posting into a hundred': (chat) => post(chat, chat.hundred[chat.requests % 100]!),
  'posting replies to twenty messages': (chat) => ({
    ...post(chat, ''),
    path: `/messages/${chat.parents[chat.requests % 20]}/thread`,
  }),
  'reading the newest 50': ({ hundred, requests }) => get(`/channels/${hundred[requests % 20]}/messages`),
  'reading a page behind the cache': (chat) =>
    get(`/channels/${chat.hundred[chat.requests % 20]}/messages?before=${chat.old[chat.requests % 20]}`),
  'reading a thread': ({ parents, requests }) => get(`/messages/${parents[requests % 20]}/thread`),
  'searching a rare word': () => get('/search/messages?q=wombat'),
  'searching a word of many': ({ requests }) => get(`/search/messages?q=word${(requests * 7919) % 5000}`),
  'searching what one says': ({ requests }) => get(`/search/messages?q=number${requests * 97}`),
  'searching what nobody says': ({ requests }) => get(`/search/messages?q=nowhere${requests}`),
};

const get = (path: string) => ({ method: 'GET' as const, path });
const post = ({ requests }: Served, channel: string) => ({
  method: 'POST' as const,
  path: `/channels/${channel}/messages`,
  body: JSON.stringify({ content: `message ${requests} that says what people say to each other` }),
});

/**
 * `quick` sends a tenth of the requests. `stored`: messages in the second chat, by default 100,000 (10,000 with `quick`).
 * `beside`: the directory of another build, which gets the same number of messages.
 */
export async function bench(
  print: (line: string) => void,
  { quick = false, stored = quick ? 10_000 : 100_000, beside }: Options,
): Promise<void> {
  const amount = quick ? 400 : 4000;
  const directories = [temporaryDirectory(), temporaryDirectory(), temporaryDirectory()] as const;
  const [emptyDirectory, ...fullDirectories] = directories.map(({ path }) => path) as [string, string, string];
  const running: Server[] = [];
  try {
    const chats = [await chatIn(emptyDirectory, 'empty', running)];
    const builds = [{ name: 'full', build: OWN_BUILD }];
    if (beside !== undefined) builds.push({ name: 'full, other build', build: beside });
    for (const [index, { name, build }] of builds.entries()) {
      const dataDir = fullDirectories[index]!;
      const { hundred, author, stop } = await chatIn(dataDir, 'first', running, [], build);
      await stop();
      // Stored formats may differ between builds, so each fills its own log.
      const { fill }: typeof import('./chat-fill.js') = await import(join(build, 'dist/test/bench/chat-fill.js'));
      const cpuBefore = process.cpuUsage();
      await fill({ dataDir, channels: hundred, author, amount: stored });
      const { user, system } = process.cpuUsage(cpuBefore);
      print(
        `filling ${name} with ${stored} messages: ${((user + system) / stored).toFixed(0)} µs of this process each`,
      );
      await catchUp(print, { name, dataDir, build, stored });
      for (const projection of ['chat.messages', 'chat.search'])
        print(`rebuilding ${projection}, ${name}: ${rebuild(dataDir, build, projection)}`);
      chats.push(await chatIn(dataDir, name, running, hundred, build));
    }
    for (const { name, server } of chats) {
      const processor = spent(server).map((each) => each.toFixed(0));
      print(`start, ${name}: ready in ${server.ms} ms, ${processor.join(' + ')} ms, ${memoryOf(server)}`);
    }

    for (const [what, next] of Object.entries(workloads)) {
      for (let round = 0; round <= ROUNDS; round++)
        for (const chat of chats) {
          const before = spent(chat.server);
          const result = await load(chat.base, { amount }, () => {
            chat.requests++;
            const headers = { 'content-type': 'application/json', authorization: `Bearer ${chat.token}` };
            return { ...next(chat), headers };
          });
          const cost = spent(chat.server).map((each, at) => (1000 * (each - before[at]!)) / result.done);
          // The first round warms up: its code is not compiled yet.
          if (round > 0)
            print(`${what}, ${chat.name}: ${result.text}; ${cost.map((each) => each.toFixed(0)).join(' + ')} µs`);
        }
    }
    for (const { name, server } of chats) print(`under load, ${name}: ${memoryOf(server)}`);
  } finally {
    for (const server of running) await server.stop();
    for (const { remove } of directories) remove();
  }
}

/** `known`: the hundred channels, if they exist already. */
async function chatIn(
  dataDir: string,
  name: string,
  running: Server[],
  known?: readonly string[],
  build = OWN_BUILD,
): Promise<Served & { readonly author: string; stop(): Promise<unknown> }> {
  const server = await startUsual(
    dataDir,
    ['chat', '--auth-jwt-expiry-seconds', '86400', ...flagsFor(build)],
    [],
    programOf(build),
  );
  running.push(server);
  const base = server.urls.chat ?? '';
  const { token, id: author } = await devLogin(base, 'admin@localhost');
  const channel = async (channelName: string): Promise<string> =>
    (await ask(base, 'POST', '/channels', { token, body: { name: channelName } })).body.channel.id;
  const hundred = [...(known ?? [])];
  while (hundred.length < 100) hundred.push(await channel(`c${hundred.length}`));
  const one = await channel(`one ${name}`);
  const [parents, old]: [string[], string[]] = [[], []];
  for (const id of hundred.slice(0, 20)) {
    const { body } = await ask(base, 'POST', `/channels/${id}/messages`, { token, body: { content: 'parent' } });
    const parent = body.message.id;
    await ask(base, 'POST', `/messages/${parent}/thread`, { token, body: { content: 'reply' } });
    const newest = await ask(base, 'GET', `/channels/${id}/messages?limit=100`, { token });
    parents.push(parent);
    old.push(newest.body.messages[0].id);
  }
  return { name, server, base, token, one, hundred, parents, old, author, requests: 0, stop: () => server.stop() };
}

/** Starts a build on messages its read models do not have, and waits until they have them. */
async function catchUp(
  print: (line: string) => void,
  { name, dataDir, build, stored }: { name: string; dataDir: string; build: string; stored: number },
): Promise<void> {
  const started = performance.now();
  const server = await startUsual(dataDir, ['chat', ...flagsFor(build)], [], programOf(build));
  try {
    const lag = /^annals_projection_lag\{projection="chat\.\w+"\} [1-9]/m;
    while (lag.test(await (await fetch(`${server.urls.operations}/metrics`)).text())) await sleep(100);
    const seconds = (performance.now() - started) / 1000;
    const [own, engines] = spent(server).map((each) => ((each * 1000) / stored).toFixed(0));
    const rate = Math.round(stored / seconds).toLocaleString('en');
    print(
      `read models at the head, ${name}: after ${seconds.toFixed(1)} s (ready after ${(server.ms / 1000).toFixed(1)}), ` +
        `${rate} messages/s, ${own} + ${engines} µs each, ${memoryOf(server)}`,
    );
  } finally {
    await server.stop();
  }
}

/** Rebuilds a read model with the command; returns what it prints at its end and the time it took. */
function rebuild(dataDir: string, build: string, projection: string): string {
  const started = performance.now();
  const args = [programOf(build), 'reindex', '--data-dir', dataDir, projection];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`reindex ended with ${status}: ${stderr}`);
  const seconds = (performance.now() - started) / 1000;
  return `${seconds.toFixed(1)} s with its start; ${stdout.trim().split('\n').at(-1)}`;
}

/** Rate limits are off; `startServer` does that for this build only. */
const flagsFor = (build: string) => (build === OWN_BUILD ? [] : Object.entries(NO_LIMITS).flat());

const programOf = (build: string) => join(build, 'dist/bin/annals.js');

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bench(console.log, { quick: process.argv.includes('--quick') });
}
