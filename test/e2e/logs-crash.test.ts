/** The log service killed during ingest: acknowledged records survive, and repeated requests are stored once. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import type { Entry } from '../../application/logs/query/render-page.js';
import { logClient } from '../support/log-client.js';
import { startServer } from '../support/server-process.js';

/** Number of kills; LOG_KILLS=30 for a long run. */
const ROUNDS = Number(process.env.LOG_KILLS ?? 2);

describe('the log service, killed during ingest', () => {
  const directory = temporaryDirectory();
  after(() => directory.remove());

  it('stores every acknowledged record exactly once', async function () {
    this.timeout(60_000 * ROUNDS);
    const acknowledged = new Set<string>();
    /** Requests with their keys, and their answers if any. */
    const requests: { records: object[]; key: string; answer?: object }[] = [];
    let sent = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const server = await startServer(directory.path, ['logs']);
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
          const request: (typeof requests)[number] = { records, key: randomUUID() };
          requests.push(request);
          const headers = { 'idempotency-key': request.key };
          const done = await client.ingest(records, headers).catch(() => undefined);
          if (done?.status !== 200) return;
          request.answer = done.body;
          for (const { n } of records) acknowledged.add(`${mark} ${n}`);
        }
      });
      const enough = acknowledged.size + 300 + 150 * round;
      await eventually(() => acknowledged.size >= enough);
      await server.stop('SIGKILL');
      alive = false;
      await Promise.all(senders);
    }
    const unanswered = requests.filter(({ answer }) => !answer);
    expect(unanswered).not.to.have.length(0);
    const server = await startServer(directory.path, ['logs']);
    try {
      const client = logClient(server.urls.logs ?? '');
      // Clients repeat requests without an answer, and some with one.
      for (const { records, key, answer } of [...unanswered, ...requests.slice(0, 30)]) {
        const again = await client.ingest(records, { 'idempotency-key': key });
        expect(again.status).to.equal(200);
        if (answer) expect(again.body).to.deep.equal(answer);
      }
      const every = requests.flatMap(({ records }) => records.length).reduce((sum, count) => sum + count, 0);
      const found = (await client.all('order=asc')).map(markOf);
      expect(new Set(found).size).to.equal(found.length);
      expect(found).to.have.length(every);
      const there = new Set(found);
      expect([...acknowledged].filter((mark) => !there.has(mark))).to.deep.equal([]);
    } finally {
      await server.stop();
    }
  });
});

const markOf = ({ data }: Entry) => `${data.mark} ${data.n}`;
