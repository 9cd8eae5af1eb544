/** The log service killed in the middle of its work: what it acknowledged is there, once. */
import { expect } from 'chai';
import type { Entry } from '../../application/logs/queries.js';
import { temporaryDirectory } from '../support/engines.js';
import { logClient } from '../support/log-client.js';
import { startServer } from '../support/server.js';

/** LOG_KILLS=30 for a long run. */
const ROUNDS = Number(process.env.LOG_KILLS ?? 4);

describe('the log service, killed under ingest', () => {
  const directory = temporaryDirectory();
  after(() => directory.remove());

  it('has every record it acknowledged, once', async function () {
    this.timeout(60_000 * ROUNDS);
    const acknowledged = new Set<string>();
    let sent = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const server = await startServer(directory.path);
      const client = logClient(server.urls.logs ?? '');
      let alive = true;
      const senders = Array.from({ length: 8 }, async (_, sender) => {
        while (alive) {
          const mark = `${round}-${sender}-${sent++}`;
          const records = Array.from({ length: 1 + (sent % 40) }, (_, n) => ({
            mark,
            n,
            audit: n % 7 === 3,
          }));
          const done = await client.ingest(records).catch(() => undefined);
          if (done?.status !== 200) return;
          for (const { n } of records) acknowledged.add(`${mark} ${n}`);
        }
      });
      const enough = acknowledged.size + 300 + 150 * round;
      while (acknowledged.size < enough) await new Promise((resolve) => setTimeout(resolve, 5));
      await server.stop('SIGKILL');
      alive = false;
      await Promise.all(senders);
    }
    const server = await startServer(directory.path);
    try {
      const found = (await logClient(server.urls.logs ?? '').all('order=asc')).map(markOf);
      expect(new Set(found).size).to.equal(found.length);
      const there = new Set(found);
      expect([...acknowledged].filter((mark) => !there.has(mark))).to.deep.equal([]);
    } finally {
      await server.stop();
    }
  });
});

const markOf = ({ data }: Entry) => `${data.mark} ${data.n}`;
