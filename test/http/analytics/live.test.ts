/** The live view over HTTP: what came lately, what comes, from any node, and how it ends. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { createParser } from 'eventsource-parser';
import { ADMIN, asAdmin, useAnalytics } from '../../support/analytics-node.js';

interface Told {
  readonly id: string | undefined;
  readonly type: string;
  readonly [member: string]: unknown;
}

describe('the live view', function () {
  this.timeout(60_000);
  const nodes = useAnalytics({}, 2);
  const { site, collect, when, given } = nodes;
  const leaving: AbortController[] = [];
  after(() => {
    for (const each of leaving) each.abort();
  });

  async function look(id: string, at = 0, headers: { readonly [name: string]: string } = {}) {
    const leave = new AbortController();
    leaving.push(leave);
    const response = await fetch(`${nodes.bases[at]}/api/live?site=${id}`, {
      signal: leave.signal,
      headers: { authorization: `Bearer ${ADMIN}`, ...headers },
    });
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.match(/^text\/event-stream/);
    const told: Told[] = [];
    const state = { told, ended: false, paths: () => told.flatMap(({ path }) => path ?? []) };
    const parser = createParser({
      onEvent: ({ id: of, data }) => void told.push({ id: of, ...JSON.parse(data) }),
    });
    const read = async () => {
      const decoder = new TextDecoder();
      for await (const chunk of response.body!) parser.feed(decoder.decode(chunk, { stream: true }));
      state.ended = true;
    };
    void read().catch(() => {});
    return state;
  }

  const sees = (view: { paths(): unknown[] }, ...paths: readonly string[]) =>
    eventually(() => {
      expect(view.paths()).to.deep.equal(paths);
      return true;
    });

  it('shows what came in the last minutes, then what comes, on every node', async () => {
    const [id, other] = [await site({ allowedEventProperties: ['plan'] }), await site()];
    await collect({ site: id, path: '/before', referrer: 'https://news.example/x' });
    await collect({ site: other, path: '/other' });
    const views = [await look(id, 0), await look(id, 1)];
    for (const view of views) await sees(view, '/before');
    await collect({ site: other, path: '/other' }, {}, 1);
    await collect(
      [
        { site: id, path: '/a' },
        { site: id, path: '/b', event: 'Buy', properties: { plan: 'pro' } },
      ],
      {},
      1,
    );
    for (const view of views) await sees(view, '/before', '/a', '/b');
    const [first, , last] = views[0]!.told;
    expect(first).to.include({
      type: 'HIT',
      kind: 'pageview',
      referrer: 'https://news.example',
      browser: 'Firefox',
    });
    expect(first?.timestamp).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(last).to.deep.include({ kind: 'event', event: 'Buy', properties: { plan: 'pro' } });
    expect(JSON.stringify(views[0]!.told)).not.to.match(/visitor|127\.0\.0\.1|Mozilla/);
  });

  it('goes on where a client was', async () => {
    const id = await site();
    for (const path of ['/1', '/2', '/3']) await collect({ site: id, path });
    const view = await look(id);
    await sees(view, '/1', '/2', '/3');
    const back = await look(id, 1, { 'last-event-id': view.told[1]?.id ?? '' });
    await collect({ site: id, path: '/4' });
    await sees(back, '/3', '/4');
  });

  it('ends with its site, on every node, and a site made again begins empty', async () => {
    const id = await site();
    await collect({ site: id, path: '/gone' });
    const views = [await look(id, 0), await look(id, 1)];
    for (const view of views) await sees(view, '/gone');
    await when('DELETE', `/api/sites/${id}`, asAdmin()).thenAnswered(200);
    for (const view of views) {
      await eventually(() => view.ended);
      expect(view.told.at(-1)?.type).to.equal('SITE_DELETED');
    }
    await given('POST', '/api/sites', asAdmin({ body: { id, domains: ['example.com'] } }));
    const again = await look(id);
    await collect({ site: id, path: '/new' });
    await sees(again, '/new');
  });

  it('is for admins only, and of sites that there are', async () => {
    const id = await site();
    await when('GET', `/api/live?site=${id}`).thenRefused(401);
    await when('GET', '/api/live?site=no-such', asAdmin()).thenRefused(404);
    await when('GET', '/api/live', asAdmin()).thenRefused(400);
  });
});
