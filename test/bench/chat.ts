/** The chat under load: posting and reading over HTTP, in one channel and in a hundred, the whole program in processes of its own. */
import { fileURLToPath } from 'node:url';
import { ask, devLogin } from '../support/chat-client.js';
import { temporaryDirectory } from '../support/engines.js';
import { type Server, startServer } from '../support/server.js';
import { load, type Request } from './load.js';
import { processorMs } from './process.js';

/** Milliseconds of processor time, user and system, of each process so far: the server, and the engines together. */
function spent({ child, enginePids }: Server): readonly [own: number, engines: number] {
  return [processorMs(child.pid ?? 0), enginePids.reduce((sum, pid) => sum + processorMs(pid), 0)];
}

/** `quick` measures for 2 s instead of 8 s, and stores a tenth of the messages. */
export async function bench(
  print: (line: string) => void,
  { quick = false }: { quick?: boolean },
): Promise<void> {
  const duration = quick ? 2 : 8;
  const directory = temporaryDirectory();
  const server = await startServer(directory.path, ['--log-level', 'info']);
  try {
    const base = server.urls.chat ?? '';
    const { token } = await devLogin(base, 'admin@localhost');
    // Made anew for each: what sends them adds to them.
    const headers = () => ({ 'content-type': 'application/json', authorization: `Bearer ${token}` });
    const channel = async (name: string): Promise<string> =>
      (await ask(base, 'POST', '/channels', { token, body: { name } })).body.channel.id;
    const posts = (channels: readonly string[]) => {
      let index = 0;
      return (): Request => ({
        method: 'POST',
        path: `/channels/${channels[index++ % channels.length]}/messages`,
        headers: headers(),
        body: JSON.stringify({ content: `message ${index} that says what people say to each other` }),
      });
    };
    const reads = (id: string) => (): Request => ({
      method: 'GET',
      path: `/channels/${id}/messages`,
      headers: headers(),
    });

    async function measure(
      what: string,
      amount: { duration?: number; amount?: number },
      next: () => Request,
    ) {
      const before = spent(server);
      const result = await load(base, amount, next);
      const [own, engines] = spent(server).map((each, at) => (1000 * (each - before[at]!)) / result.done);
      print(
        `${what}: ${result.text}; processor time ${own!.toFixed(0)} + ${engines!.toFixed(0)} µs a request`,
      );
    }

    const one = await channel('one');
    await measure('warming up', { amount: 2000 }, posts([one]));
    await measure('posting into one channel', { duration }, posts([one]));
    const hundred: string[] = [];
    for (let n = 0; n < 100; n++) hundred.push(await channel(`c${n}`));
    await measure('posting into a hundred channels', { duration }, posts(hundred));
    await measure('reading the newest 50', { duration }, reads(one));
    const stored = quick ? 10_000 : 100_000;
    await measure(`posting ${stored} more`, { amount: stored }, posts([one, ...hundred]));
    await measure('posting into one channel then', { duration }, posts([one]));
    await measure('reading the newest 50 then', { duration }, reads(one));
    const { body } = await ask(base, 'GET', `/channels/${one}/messages?limit=500`, { token });
    const { id } = body.messages[0];
    await measure('reading 50 older ones', { duration }, () => ({
      method: 'GET',
      path: `/channels/${one}/messages?before=${id}`,
      headers: headers(),
    }));
  } finally {
    await server.stop();
    directory.remove();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await bench(console.log, { quick: process.argv.includes('--quick') });
}
