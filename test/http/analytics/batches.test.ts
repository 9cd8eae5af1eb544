/** Batches, repeated requests, rate limits and several nodes: every hit is counted once. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { analyticsSettings } from '../../../application/analytics/settings.js';
import { asAdmin, useAnalytics } from '../../support/analytics-node.js';

const IGNORED = (reason: string) => ({ accepted: false, reason });
const ACCEPTED = { accepted: true };

describe('collecting batches of hits', function () {
  this.timeout(60_000);
  const { site, collect, written, when } = useAnalytics({ '--server-trusted-proxies': '127.0.0.1' });
  const hitsOf = async (id: string) => (await written(id)).flatMap(({ data }) => data.secret.hits);

  describe('in a batch', () => {
    it('answers each payload, in order', async () => {
      const id = await site();
      const batch = [
        { site: id, path: '/a' },
        { site: 'nobody' },
        { site: id, host: 'evil.test' },
        { site: id, event: 'b' },
      ];
      expect(await collect(batch)).to.deep.equal({
        results: [ACCEPTED, IGNORED('unknown_site'), IGNORED('host_not_allowed'), ACCEPTED],
      });
      const [event] = await written(id);
      expect(event?.data).to.include({ views: 1, events: 1 });
    });

    it('accepts from 0 to 100 payloads, and rejects 101', async () => {
      const id = await site();
      expect(await collect([])).to.deep.equal({ results: [] });
      const { results } = await collect(Array.from({ length: 100 }, (_, n) => ({ site: id, path: `/${n}` })));
      expect(results).to.deep.equal(Array.from({ length: 100 }, () => ACCEPTED));
      expect((await hitsOf(id)).map(({ path }) => path)).to.deep.equal(Array.from({ length: 100 }, (_, n) => `/${n}`));
      const body = Array.from({ length: 101 }, () => ({ site: id }));
      await when('POST', '/api/collect', { body }).thenRefused(400, { error: /payloads is too long/ });
    });

    it('accepts valid payloads and names the invalid field of each other', async () => {
      const id = await site();
      const batch = [
        { site: id, path: '/first' },
        { site: id, kind: 'event', event: ' ' },
        { site: id, campaign: { utm_source: 7 } },
        'no payload',
        null,
        {},
        { site: id, path: '/last' },
      ];
      const wrong = (error: string) => ({ ...IGNORED('invalid_payload'), error });
      expect(await collect(batch)).to.deep.equal({
        results: [
          ACCEPTED,
          wrong('[1].event must be a name'),
          wrong('[2].campaign.utm_source is invalid'),
          wrong('[3] is invalid'),
          wrong('[4] is invalid'),
          wrong('[5].site is required'),
          ACCEPTED,
        ],
      });
      expect((await hitsOf(id)).map(({ path }) => path)).to.deep.equal(['/first', '/last']);
      expect((await collect([{ site: id, path: 1 }])).results).to.deep.equal([wrong('[0].path is invalid')]);
    });
  });

  describe('with an Idempotency-Key', () => {
    const keyed = (key: string) => ({ 'idempotency-key': key });

    it('records a visitor in the log once, so that hits of several requests cannot be linked to one person', async () => {
      const id = await site();
      for (const key of ['one', 'two', 'two', 'three'])
        await collect({ site: id, path: `/${key}` }, keyed(`${id}-${key}`));
      await collect({ site: id, path: '/four' });
      const secrets = (await written(id)).map(({ data }) => data.secret);
      expect(secrets.map(({ hits }) => hits[0]?.path)).to.have.members(['/one', '/two', '/three', '/four']);
      expect(secrets.map(({ visitors }) => visitors.length).sort()).to.deep.equal([0, 0, 0, 1]);
    });

    it('counts concurrent repetitions once, and answers them alike', async () => {
      const [id, key] = [await site(), randomUUID()];
      const batch = [{ site: id, path: '/a' }, { site: id, path: '/b' }, { site: 'nobody' }];
      const answers = await Promise.all([1, 2, 3].map(() => collect(batch, keyed(key))));
      for (const each of answers) expect(each).to.deep.equal(answers[0]);
      expect(await collect(batch, keyed(key))).to.deep.equal(answers[0]);
      expect(await hitsOf(id)).to.have.lengthOf(2);
    });

    it('repeats the first answer even after the site has changed or was deleted', async () => {
      const [id, other] = [await site(), await site()];
      const [one, some, none] = [{ site: id }, [{ site: id }, { site: other, host: 'later.test' }], { site: 'later' }];
      const change = (domains: string[]) => async (of: string) =>
        when('PUT', `/api/sites/${of}`, asAdmin({ body: { domains } })).thenAnswered(200);
      const ask = async () => [
        await collect(one, keyed(`${id}-one`)),
        await collect(some, keyed(`${id}-some`)),
        await collect(none, keyed(`${id}-none`)),
      ];
      const answers = await ask();
      expect(answers).to.deep.equal([
        ACCEPTED,
        { results: [ACCEPTED, IGNORED('host_not_allowed')] },
        IGNORED('unknown_site'),
      ]);
      await change(['example.com', 'later.test'])(other);
      expect(await ask()).to.deep.equal(answers);
      await change([])(id);
      expect(await ask()).to.deep.equal(answers);
      await when('DELETE', `/api/sites/${id}`, asAdmin()).thenAnswered(200);
      expect(await ask()).to.deep.equal(answers);
      expect(await hitsOf(other)).to.deep.equal([]);
      const headers = { ...keyed(`${id}-one`), origin: 'https://example.com' };
      await when('POST', '/api/collect', { body: { site: id, path: '/other' }, headers }).thenRefused(422);
    });

    it('ignores requests with a privacy signal, even repetitions of counted ones, and counts a later one without it', async () => {
      const id = await site();
      const [first, second] = [keyed(`${id}-1`), keyed(`${id}-2`)];
      const [one, several] = [{ site: id, path: '/one' }, [{ site: id, path: '/several' }]];
      const ignored = IGNORED('privacy_signal');
      expect(await collect(one, first)).to.deep.equal(ACCEPTED);
      expect(await collect(several, second)).to.deep.equal({ results: [ACCEPTED] });
      for (const name of ['dnt', 'sec-gpc']) {
        const signal = { [name]: '1' };
        expect(await collect(one, { ...first, ...signal })).to.deep.equal(ignored);
        expect(await collect(several, { ...second, ...signal })).to.deep.equal({ results: [ignored] });
        // The signal is checked before the body is compared with the first request's.
        expect(await collect({ site: id, path: '/other' }, { ...first, ...signal })).to.deep.equal(ignored);
      }
      const third = keyed(`${id}-3`);
      expect(await collect({ site: id, path: '/third' }, { ...third, dnt: '1' })).to.deep.equal(ignored);
      expect(await collect({ site: id, path: '/third' }, third)).to.deep.equal(ACCEPTED);
      expect((await hitsOf(id)).map(({ path }) => path)).to.have.members(['/one', '/several', '/third']);
    });

    it('rejects the key with another body, and keeps the keys of callers separate', async () => {
      const [id, key] = [await site(), randomUUID()];
      await collect({ site: id, path: '/a' }, keyed(key));
      const headers = { ...keyed(key), origin: 'https://example.com' };
      await when('POST', '/api/collect', { body: { site: id, path: '/b' }, headers }).thenRefused(422);
      expect(
        await collect({ site: id, path: '/b' }, { ...keyed(key), 'x-forwarded-for': '203.0.113.9' }),
      ).to.deep.equal(ACCEPTED);
      expect(await hitsOf(id)).to.have.lengthOf(2);
    });
  });
});

describe('rate limit of hits', function () {
  this.timeout(60_000);
  const { site, collect, written, when } = useAnalytics({
    '--server-trusted-proxies': '127.0.0.1',
    // A burst of half of them, then one more every ten seconds.
    '--analytics-hits-per-minute': '6',
  });
  const from = (address: string, more = {}) => ({
    origin: 'https://example.com',
    'x-forwarded-for': address,
    ...more,
  });

  it('limits the burst of a network, and says when to retry', async () => {
    const id = await site();
    for (let n = 0; n < 3; n++) await collect({ site: id }, from(`2001:db8::${n}`));
    const refused = await when('POST', '/api/collect', {
      body: { site: id },
      headers: from('2001:db8::9'),
    }).thenRefused(429, { error: /network/ });
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
    expect(await collect({ site: 'nobody' }, from('2001:db8::1'))).to.deep.equal(IGNORED('unknown_site'));
    expect(await collect({ site: id }, from('2001:db8:0:1::1'))).to.deep.equal(ACCEPTED);
    const { body } = await when('GET', `/api/collect-attempts?site=${id}`, asAdmin()).thenAnswered(200);
    const reasons = body.attempts.map(({ reason }: { reason: string | null }) => reason);
    expect(reasons).to.have.lengthOf(5).and.to.include('too_many_hits');
  });

  it('accepts the first hits of a batch up to the limit, and counts only valid ones towards it', async () => {
    const id = await site();
    const server = await site({ ingestToken: 'sesame' });
    const batch = [
      { site: id, host: 'evil.test' },
      ...Array.from({ length: 4 }, (_, n) => ({ site: id, path: `/${n}` })),
      { site: server },
    ];
    const headers = from('203.0.113.1', { 'x-analytics-token': 'sesame' });
    const { body, headers: answered } = await when('POST', '/api/collect', {
      body: batch,
      headers,
    }).thenAnswered(202);
    expect(body.results).to.deep.equal([
      IGNORED('host_not_allowed'),
      ...Array.from({ length: 3 }, () => ACCEPTED),
      IGNORED('too_many_hits'),
      ACCEPTED,
    ]);
    expect(Number(answered.get('retry-after'))).to.be.within(1, 60);
    const paths = (await written(id)).flatMap(({ data }) => data.secret.hits.map(({ path }) => path));
    expect(paths).to.deep.equal(['/0', '/1', '/2']);
  });

  it('does not charge repetitions, and answers them like the first request', async () => {
    const [id, keyed] = [await site(), { 'idempotency-key': randomUUID() }];
    const batch = Array.from({ length: 2 }, (_, n) => ({ site: id, path: `/${n}` }));
    const headers = from('203.0.113.2', keyed);
    const first = await collect(batch, headers);
    for (let n = 0; n < 5; n++) expect(await collect(batch, headers)).to.deep.equal(first);
    expect(await collect({ site: id }, from('203.0.113.2'))).to.deep.equal(ACCEPTED);
    await when('POST', '/api/collect', { body: { site: id }, headers: from('203.0.113.2') }).thenRefused(429);
    expect(await collect(batch, headers)).to.deep.equal(first);
    const some = from('203.0.113.3', { 'idempotency-key': randomUUID() });
    const partial = await collect([...batch, ...batch], some);
    expect(partial.results?.filter(({ accepted }) => accepted)).to.have.lengthOf(3);
    expect(await collect([...batch, ...batch], some)).to.deep.equal(partial);
  });

  it("does not limit hits with the site's ingest token", async () => {
    const id = await site({ ingestToken: 'sesame' });
    for (let n = 0; n < 6; n++)
      expect(
        await collect([{ site: id }, { site: id }], from('203.0.113.9', { 'x-analytics-token': 'sesame' })),
      ).to.deep.equal({
        results: [ACCEPTED, ACCEPTED],
      });
  });
});

describe('default rate limit of hits', function () {
  this.timeout(60_000);
  const setting = analyticsSettings['analytics.hitsPerMinute'];
  const { site, collect } = useAnalytics({ '--analytics-hits-per-minute': String(setting.default) });

  it('accepts 300 hits of a network in a burst', async () => {
    const id = await site();
    const batches = Array.from({ length: 4 }, () => collect(Array.from({ length: 100 }, () => ({ site: id }))));
    const results = (await Promise.all(batches)).flatMap(({ results = [] }) => results);
    // Ten more are allowed for each second that this takes.
    expect(results.filter(({ accepted }) => accepted).length).to.be.within(300, 350);
    expect(results.find(({ accepted }) => !accepted)).to.deep.equal(IGNORED('too_many_hits'));
  });
});

describe('collecting on several nodes', function () {
  this.timeout(60_000);
  const nodes = useAnalytics({ '--analytics-country-header': 'X-Country' }, 2);
  const { site, collect, written } = nodes;

  it('accepts hits on one node for a site just created on another', async () => {
    for (let n = 0; n < 5; n++) {
      const id = await site();
      expect(await collect({ site: id }, {}, 1)).to.deep.equal({ accepted: true });
    }
  });

  it('counts one visitor across nodes, and loses no hit when both write concurrently', async () => {
    const id = await site();
    await Promise.all(Array.from({ length: 60 }, (_, n) => collect({ site: id, path: `/${n}` }, {}, n % 2)));
    const events = await written(id);
    expect(new Set(events.flatMap(({ data }) => data.secret.hits.map(({ path }) => path)))).to.have.lengthOf(60);
    expect(new Set(events.flatMap(({ data }) => data.secret.visitors))).to.have.lengthOf(1);
  });

  it('ignores the country header of an untrusted proxy', async () => {
    const id = await site();
    await collect({ site: id }, { 'x-country': 'DE' });
    expect((await written(id))[0]?.data.secret.hits[0]).not.to.have.property('country');
  });
});
