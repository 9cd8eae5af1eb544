/** What a copy of the data directory reveals about visitors: nothing of those who opt out, nothing in clear of others. */
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { ask } from '../support/http-spec.js';
import { bytesIn, startServer } from '../support/server-process.js';

const ADMIN = 'an-admin-token-for-tests';
/** Phrases that occur nowhere else: paths, events, referrers and user agents. */
const counted = {
  path: '/where-the-wombats-are-counted',
  event: 'wombat-was-counted',
  referrer: 'https://counted-wombats.example/x',
  agent: 'CountedWombatBrowser/1.0',
  address: '203.0.113.77',
};
const unseen = {
  path: '/where-nobody-must-be-seen',
  event: 'nobody-was-here',
  referrer: 'https://unseen-visitors.example/x',
  agent: 'UnseenVisitorBrowser/1.0',
  address: '198.51.100.99',
};

describe('analytics data at rest', function () {
  this.timeout(60_000);

  it('contains no trace of visitors with DNT or GPC, no addresses, and no plaintext of counted visits', async () => {
    const directory = temporaryDirectory();
    try {
      const flags = ['--analytics-admin-token', ADMIN, '--server-trusted-proxies', '127.0.0.1', '--log-level', 'debug'];
      const server = await startServer(directory.path, ['analytics', ...flags]);
      try {
        const base = server.urls.analytics ?? '';
        const site = { id: 'demo', domains: ['example.com'], ingestToken: 'the-ingest-token-of-the-demo' };
        expect((await ask(base, 'POST', '/api/sites', { token: ADMIN, body: site })).status).to.equal(201);
        const send = ({ path, event, referrer, agent, address }: typeof counted, headers = {}) =>
          ask(base, 'POST', '/api/collect', {
            body: [
              { site: 'demo', host: 'example.com', path, referrer },
              { site: 'demo', host: 'example.com', path, event },
            ],
            headers: {
              'user-agent': agent,
              'x-forwarded-for': address,
              'x-analytics-token': site.ingestToken,
              ...headers,
            },
          });
        const results = async (...of: Parameters<typeof send>) => (await send(...of)).body.results;
        for (const headers of [{ dnt: '1' }, { 'sec-gpc': '1' }, { dnt: '1', 'idempotency-key': 'a-key' }]) {
          const ignored = { accepted: false, reason: 'privacy_signal' };
          expect(await results(unseen, headers)).to.deep.equal([ignored, ignored]);
        }
        for (const headers of [{}, { 'idempotency-key': 'another-key' }])
          expect(await results(counted, headers)).to.deep.equal([{ accepted: true }, { accepted: true }]);
        const printed = server.lines.join('\n');
        for (const text of [...Object.values(unseen), ...Object.values(counted), site.ingestToken])
          expect(printed, text).not.to.include(text);
      } finally {
        await server.stop();
      }
      const everything = bytesIn(directory.path);
      // The data is uncompressed, so that searching for plaintext is a valid check.
      expect(everything.includes('analytics.traffic-')).to.equal(true);
      expect(everything.includes('analytics.HitsCollected.v1')).to.equal(true);
      for (const text of [
        ...Object.values(unseen),
        ...Object.values(counted),
        'the-ingest-token-of-the-demo',
        'example.com',
      ])
        expect(everything.includes(text), text).to.equal(false);
    } finally {
      directory.remove();
    }
  });
});
