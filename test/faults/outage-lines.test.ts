/** Log lines of a node with a frozen store: waiting parts do not each report the outage as an error. */
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { type Server, startServer } from '../support/server-process.js';

describe('log of a node whose store is frozen', function () {
  this.timeout(180_000);
  const directory = temporaryDirectory();
  let server: Server;
  before(async () => {
    server = await startServer(directory.path);
  });
  after(async () => {
    await server?.stop('SIGKILL');
    directory.remove();
  });

  interface Line {
    readonly level: string;
    readonly msg: string;
    readonly store?: string;
  }
  const linesFrom = (start: number): Line[] =>
    server.lines
      .slice(start)
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
  const post = (service: string, path: string, body: object) =>
    fetch(`${server.urls[service]}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).then(({ status }) => status);
  const work = () =>
    Promise.all([
      ...Array.from({ length: 5 }, () => post('rooms', '/rooms', { displayName: 'Ada' })),
      ...Array.from({ length: 5 }, () => post('logs', '/api/ingest', { message: 'hello' })),
    ]);

  for (const [engine, store] of [
    ['mongo', 'MongoDB'],
    ['eventstore', 'the event store'],
  ] as const)
    it(`has two lines about ${store}, none of them an error`, async () => {
      await work();
      const start = server.lines.length;
      process.kill(server.pids[engine]!, 'SIGSTOP');
      try {
        for (let round = 0; round < 2; round++) await work();
      } finally {
        process.kill(server.pids[engine]!, 'SIGCONT');
      }
      await eventually(() => linesFrom(start).some(({ msg }) => msg.startsWith(`${store} answers again`)));
      const lines = linesFrom(start).filter(({ level }) => level === 'warn' || level === 'error');
      expect(lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
      expect(lines.filter((line) => line.store === store)).to.have.length(1);
      expect(lines, JSON.stringify(lines)).to.have.length.below(4);
    });
});
