/** Benchmarks an empty chat and one with many stored messages in alternation: posting, reading, searching and starting. */
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { anonymousMB, processorMs } from '@annals/engines/testing/process-usage.js';
import { ask, devLogin } from '../support/http-spec.js';
import type { Server } from '../support/server-process.js';
import { fill } from './chat-fill.js';
import { load, type Request } from './load.js';
import { startUsual } from './started.js';

/** A running chat with one channel of its own and the hundred channels that hold the stored messages. */
interface Served {
  readonly name: string;
  readonly server: Server;
  readonly base: string;
  readonly token: string;
  readonly one: string;
  readonly hundred: readonly string[];
  /** Number of requests sent so far. */
  requests: number;
}

const ROUNDS = 3;

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
  'reading the newest 50': ({ hundred, requests }) => get(`/channels/${hundred[requests % 20]}/messages`),
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

/** `quick` sends a tenth of the requests. `stored`: messages in the second chat, by default 100,000 (10,000 with `quick`). */
export async function bench(
  print: (line: string) => void,
  { quick = false, stored = quick ? 10_000 : 100_000 }: { quick?: boolean; stored?: number },
): Promise<void> {
  const amount = quick ? 400 : 4000;
  const directories = [temporaryDirectory(), temporaryDirectory()] as const;
  const running: Server[] = [];
  try {
    const empty = await chatIn(directories[0].path, 'empty', running);
    const { hundred, author, stop } = await chatIn(directories[1].path, 'first', running);
    await stop();
    const cpuBefore = process.cpuUsage();
    await fill({ dataDir: directories[1].path, channels: hundred, author, amount: stored });
    const { user, system } = process.cpuUsage(cpuBefore);
    print(`filling with ${stored} messages: ${((user + system) / stored).toFixed(0)} µs of this process each`);

    const first = await startUsual(directories[1].path, ['chat']);
    running.push(first);
    const [own, engines] = spent(first).map((each) => ((each * 1000) / stored).toFixed(0));
    print(`read models of them, with the start: ${own} + ${engines} µs each, ${memoryOf(first)}`);
    await first.stop();
    const full = await chatIn(directories[1].path, 'full', running, hundred);
    for (const { name, server } of [empty, full]) {
      const processor = spent(server).map((each) => each.toFixed(0));
      print(`start, ${name}: ready in ${server.ms} ms, ${processor.join(' + ')} ms, ${memoryOf(server)}`);
    }

    for (const [what, next] of Object.entries(workloads)) {
      for (let round = 0; round <= ROUNDS; round++)
        for (const chat of [empty, full]) {
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
    for (const { name, server } of [empty, full]) print(`under load, ${name}: ${memoryOf(server)}`);
  } finally {
    for (const server of running) await server.stop();
    for (const { remove } of directories) remove();
  }
}

/** `known`: the hundred channels, if they exist already. */
async function chatIn(dataDir: string, name: string, running: Server[], known?: readonly string[]) {
  const server = await startUsual(dataDir, ['chat']);
  running.push(server);
  const base = server.urls.chat ?? '';
  const { token, id: author } = await devLogin(base, 'admin@localhost');
  const channel = async (channelName: string): Promise<string> =>
    (await ask(base, 'POST', '/channels', { token, body: { name: channelName } })).body.channel.id;
  const hundred = [...(known ?? [])];
  while (hundred.length < 100) hundred.push(await channel(`c${hundred.length}`));
  const one = await channel(`one ${name}`);
  return { name, server, base, token, one, hundred, author, requests: 0, stop: () => server.stop() };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bench(console.log, { quick: process.argv.includes('--quick') });
}
