/** Rebuilds of the log index while it serves queries. */
import { findRuntime } from '@annals/engines/internal/supervisor/runtime-file.js';
import { expect } from 'chai';
import { connectMongo } from '../../../adapters/mongo/client.js';
import { createCheckpoints } from '../../../adapters/mongo/coordination/checkpoints.js';
import { createLeases } from '../../../adapters/mongo/coordination/leases.js';
import type { ReindexProgress, ReindexReport } from '../../../application/logs/admin/reindex.js';
import { ISO, type LogsUnderTest, type SuiteContext } from './shared-service.js';

export function rebuilds(logs: LogsUnderTest) {
  const { mine } = logs;
  let client: SuiteContext['client'];
  let run: SuiteContext['run'];
  let server: SuiteContext['server'];
  beforeEach(() => {
    ({ client, run, server } = logs.context());
  });

  describe('rebuilding the log index', () => {
    it('keeps answers, ids and cursors equal while queries continue', async () => {
      await client.ingest(Array.from({ length: 300 }, (_, n) => ({ run, n })));
      const before = await client.all(mine(), 50);
      const { nextCursor } = await client.page(mine('limit=10'));
      let reading = true;
      const reader = (async () => {
        while (reading) expect((await client.all(mine())).length).to.equal(300);
      })();
      const { status, body } = await client.ask<ReindexReport>('POST', '/api/reindex');
      reading = false;
      await reader;
      expect(status).to.equal(200);
      expect(body.report).to.deep.include({ mode: 'full', recordsSkipped: 0, parseErrors: 0 });
      expect(body.report.recordsInserted).to.equal(body.reset.entriesDeleted).and.at.least(300);
      expect(body.report.startedAt).to.match(ISO);
      expect(body.report.durationMs).to.be.a('number');
      expect(await client.all(mine(), 50)).to.deep.equal(before);
      const { entries } = await client.page(mine(`limit=10&cursor=${nextCursor}`));
      expect(entries).to.deep.equal(before.slice(10, 20));
    });

    it('refuses a body that is not JSON', async () => {
      const headers = { 'content-type': 'application/json' };
      const { status, body } = await client.ask<object>('POST', '/api/reindex', { body: '{', headers });
      expect([status, body]).to.deep.equal([400, { error: 'The body is not valid JSON' }]);
      expect((await client.ask('POST', '/api/reindex', { body: '', headers })).status).to.equal(200);
    });

    it('runs one at a time, in the background on request', async () => {
      await client.ingest(Array.from({ length: 5000 }, (_, n) => ({ run, n, text: `word${n} `.repeat(10) })));
      const begun = await client.ask<{ id: string }>('POST', '/api/reindex?async=true');
      expect(begun.status).to.equal(202);
      const second = await client.ask<{ error: string; progress: ReindexProgress }>('POST', '/api/reindex');
      expect(second.status).to.equal(409);
      expect(second.body.error).to.be.a('string');
      expect(second.body.progress.id).to.equal(begun.body.id);
      for (;;) {
        const { body } = await client.ask<ReindexProgress>('GET', '/api/reindex');
        expect(body.id).to.equal(begun.body.id);
        if (body.state === 'running') continue;
        expect(body.state).to.equal('done');
        break;
      }
      expect(await client.all(mine())).to.have.length(5000);
    });

    it("is refused while another process rebuilds, with that one's progress", async () => {
      const { projections } = JSON.parse(await (await fetch(`${server.urls.operations}/projections`)).text());
      const served = projections.find(({ name }: { name: string }) => name === 'logs.records');
      // Another process is visible to a node only by its lease, collection and checkpoint.
      const mongo = await connectMongo(findRuntime(logs.dataDir)?.mongoUrl ?? '', 'annals');
      const build = served.collection.replace(/[^_]+$/, (run: string) => `${run}z`);
      try {
        const lease = await createLeases(mongo.models, 'another process').acquire('build:logs.records');
        await mongo.models.createCollection(build);
        await createCheckpoints(mongo.models).advance({ [build]: 77n }, lease!);
        for (const query of ['', '?async=true']) {
          const refused = await client.ask<{ error: string; progress: ReindexProgress }>(
            'POST',
            `/api/reindex${query}`,
          );
          expect(refused.status).to.equal(409);
          expect(refused.body.error).to.be.a('string');
          expect(refused.body.progress).to.deep.include({ state: 'running', position: '77' });
          expect(Number(refused.body.progress.until)).to.be.at.least(Number(served.position));
        }
        expect((await client.ask<ReindexProgress>('GET', '/api/reindex')).body).to.deep.include({
          state: 'running',
          position: '77',
        });
        await mongo.models.collection(build).drop();
        await lease?.release();
      } finally {
        await mongo.close();
      }
      expect((await client.ask<ReindexProgress>('GET', '/api/reindex')).body.state).not.to.equal('running');
      expect((await client.ask('POST', '/api/reindex')).status).to.equal(200);
    });
  });
}
