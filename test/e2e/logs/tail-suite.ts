/** Live tails of the log service. */
import { expect } from 'chai';
import type { Page } from '../../../application/logs/query/render-page.js';
import { tailed } from '../../support/log-client.js';
import { type LogsUnderTest, messages, type SuiteContext } from './shared-service.js';

export function follows(logs: LogsUnderTest) {
  const { mine } = logs;
  let base: SuiteContext['base'];
  let client: SuiteContext['client'];
  let run: SuiteContext['run'];
  beforeEach(() => {
    ({ base, client, run } = logs.context());
  });

  describe('live tails', () => {
    it('filter new records and resume from a cursor', async () => {
      const url = `${base}/api/logs/tail?${mine('level=error')}`;
      let first: ReturnType<typeof tailed> | undefined;
      await new Promise<void>((connected) => {
        first = tailed(url, (entries) => entries.length === 2, { connected });
      });
      await client.ingest([{ run, level: 'info', message: 'no' }]);
      await client.ingest([
        { run, level: 'error', message: 'one' },
        { run, level: 'error', message: 'two' },
      ]);
      const seen = await first!;
      expect(messages(seen.entries)).to.deep.equal(['one', 'two']);
      await client.ingest([{ run, level: 'error', message: 'three' }]);
      const missed = await tailed(url, (entries) => entries.length === 1, { lastEventId: seen.cursor! });
      expect(messages(missed.entries)).to.deep.equal(['three']);
      const listed = await client.all(mine('level=error&order=asc'));
      expect([...seen.entries, ...missed.entries]).to.deep.equal(listed);
    });

    it('start at the position of a page', async () => {
      await client.ingest([{ run, message: 'before' }]);
      const page = await client.ask<Page>('GET', `/api/logs?${mine()}`);
      expect(messages(page.body.entries)).to.deep.equal(['before']);
      await client.ingest([{ run, message: 'after' }]);
      const lastEventId = page.headers.get('position') ?? '';
      const { entries } = await tailed(`${base}/api/logs/tail?${mine()}`, (all) => all.length > 0, {
        lastEventId,
      });
      expect(messages(entries)).to.deep.equal(['after']);
    });
  });
}
