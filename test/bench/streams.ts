/** Benchmarks one chat post delivered to many event streams: cost of a delivery, latency, memory of a connection. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { WebSocket } from 'ws';
import { ask, devLogin } from '../support/http-spec.js';
import type { Server } from '../support/server-process.js';
import { startUsual } from './started.js';

/** Processor microseconds that the server has used. */
function spent({ child }: Server): number {
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'utf8').replace(/^.*\) /, '');
  const fields = stat.split(' ');
  return 10_000 * (Number(fields[11]) + Number(fields[12]));
}

/** Anonymous memory of the server's process in KB. */
const anonymous = ({ child }: Server): number =>
  Number(/Pss_Anon:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/smaps_rollup`, 'utf8'))?.[1]);

/** The server's heap in KB after a garbage collection, read through its inspector. */
async function heapOf(server: Server): Promise<number> {
  const url = /ws:\/\/[^\s"\\]+/.exec(server.lines.join('\n'))?.[0] ?? '';
  const socket = new WebSocket(url);
  await once(socket, 'open');
  let calls = 0;
  const call = async (method: string) => {
    const id = ++calls;
    socket.send(JSON.stringify({ id, method }));
    for (;;) {
      const [data] = (await once(socket, 'message')) as [Buffer];
      const answer = JSON.parse(data.toString()) as { id?: number; result: { usedSize: number } };
      if (answer.id === id) return answer.result;
    }
  };
  for (const _ of [1, 2]) await call('HeapProfiler.collectGarbage');
  const { usedSize } = await call('Runtime.getHeapUsage');
  socket.close();
  return usedSize / 1024;
}

/** Opens an event stream; `onPost` is called for each event of a post. */
async function listen(url: string, token: string, onPost: () => void): Promise<IncomingMessage> {
  const request = get(`${url}/events?token=${token}`, { agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`a stream was answered ${response.statusCode}`);
  response.on('data', (chunk: Buffer) => chunk.includes('NEW_MESSAGE') && onPost());
  return response;
}

const at = (sorted: readonly number[], share: number) => sorted[Math.floor(share * (sorted.length - 1))]!;

/** `quick` posts 20 messages to 1,000 streams; otherwise 50, and also to 5,000 streams. */
export async function bench(print: (line: string) => void, { quick = false }: { quick?: boolean }): Promise<void> {
  const posts = quick ? 20 : 50;
  for (const listeners of quick ? [1000] : [1000, 5000]) {
    const directory = temporaryDirectory();
    const flags = ['--server-connections', '20000'];
    const server = await startUsual(directory.path, flags, ['--inspect=127.0.0.1:0']);
    const open: IncomingMessage[] = [];
    try {
      const url = server.urls.chat ?? '';
      const { token } = await devLogin(url, 'admin@localhost');
      const { body } = await ask(url, 'POST', '/channels', { token, body: { name: 'all' } });
      let deliveries = 0;
      let resolveAll = () => {};
      const onPost = () => void (++deliveries === listeners && resolveAll());
      const post = async (content: string) => {
        deliveries = 0;
        const deliveredToAll = new Promise<void>((resolve) => {
          resolveAll = resolve;
        });
        const started = performance.now();
        await ask(url, 'POST', `/channels/${body.channel.id}/messages`, { token, body: { content } });
        await deliveredToAll;
        return performance.now() - started;
      };
      const connect = async (count: number) => {
        while (open.length < count) {
          const some = Array.from({ length: 50 }, () => listen(url, token, onPost));
          open.push(...(await Promise.all(some)));
        }
      };
      // The first connections allocate shared structures that are not counted.
      await connect(100);
      const [heap, memory] = [await heapOf(server), anonymous(server)];
      await connect(listeners);
      const each = (kilobytes: number) => (kilobytes / (listeners - 100)).toFixed(1);
      print(
        `${listeners} streams: ${each((await heapOf(server)) - heap)} KB of heap each, ` +
          `${each(anonymous(server) - memory)} KB of memory`,
      );
      for (let warm = 0; warm < 10; warm++) await post('warming up');
      const before = spent(server);
      const times: number[] = [];
      for (let n = 0; n < posts; n++) times.push(await post(`message ${n}`));
      const cost = (spent(server) - before) / (posts * listeners);
      times.sort((a, b) => a - b);
      print(
        `one post to ${listeners}: delivered to all after p50 ${at(times, 0.5).toFixed(0)} ms, p99 ` +
          `${at(times, 0.99).toFixed(0)} ms; processor time ${cost.toFixed(1)} µs a delivery`,
      );
    } finally {
      for (const each of open) each.destroy();
      await server.stop();
      directory.remove();
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bench(console.log, { quick: process.argv.includes('--quick') });
}
