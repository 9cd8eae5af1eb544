/** The live view over HTTP: recent hits, new hits, on every node, and how it ends. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { createParser } from 'eventsource-parser';
import { ADMIN, asAdmin, useAnalytics } from '../../support/analytics-node.js';

interface LiveEvent {
  readonly id: string | undefined;
  readonly type: string;
  readonly [member: string]: unknown;
}

describe('live view of hits', function () {
  this.timeout(60_000);
  const nodes = useAnalytics({}, 2);
  const { site, collect, when, given } = nodes;
  const controllers: AbortController[] = [];
  after(() => {
    for (const each of controllers) each.abort();
  });

  async function openView(id: string, at = 0, headers: { readonly [name: string]: string } = {}) {
    const controller = new AbortController();
    controllers.push(controller);
    const response = await fetch(`${nodes.bases[at]}/api/live?site=${id}`, {
      signal: controller.signal,
      headers: { authorization: `Bearer ${ADMIN}`, ...headers },
    });
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.match(/^text\/event-stream/);
    const events: LiveEvent[] = [];
    const state = { events, ended: false, paths: () => events.flatMap(({ path }) => path ?? []) };
    const parser = createParser({
      onEvent: ({ id: of, data }) => void events.push({ id: of, ...JSON.parse(data) }),
    });
    const read = async () => {
      const decoder = new TextDecoder();
      for await (const chunk of response.body!) parser.feed(decoder.decode(chunk, { stream: true }));
      state.ended = true;
    };
    void read().catch(() => {});
    return state;
  }

  const expectPaths = (view: { paths(): unknown[] }, ...paths: readonly string[]) =>
    eventually(() => {
      expect(view.paths()).to.deep.equal(paths);
      return true;
    });

  it('streams the hits of the last minutes, then new ones, on every node', async () => {
    const [id, other] = [await site({ allowedEventProperties: ['plan'] }), await site()];
    await collect({ site: id, path: '/before', referrer: 'https://news.example/x' });
    await collect({ site: other, path: '/other' });
    const views = [await openView(id, 0), await openView(id, 1)];
    for (const view of views) await expectPaths(view, '/before');
    await collect({ site: other, path: '/other' }, {}, 1);
    await collect(
      [
        { site: id, path: '/a' },
        { site: id, path: '/b', event: 'Buy', properties: { plan: 'pro' } },
      ],
      {},
      1,
    );
    for (const view of views) await expectPaths(view, '/before', '/a', '/b');
    const [first, , last] = views[0]!.events;
    expect(first).to.include({
      type: 'HIT',
      kind: 'pageview',
      referrer: 'https://news.example',
      browser: 'Firefox',
    });
    expect(first?.timestamp).to.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(last).to.deep.include({ kind: 'event', event: 'Buy', properties: { plan: 'pro' } });
    expect(JSON.stringify(views[0]!.events)).not.to.match(/visitor|127\.0\.0\.1|Mozilla/);
  });

  it('resumes after the last event id of a client', async () => {
    const id = await site();
    for (const path of ['/1', '/2', '/3']) await collect({ site: id, path });
    const view = await openView(id);
    await expectPaths(view, '/1', '/2', '/3');
    const back = await openView(id, 1, { 'last-event-id': view.events[1]?.id ?? '' });
    await collect({ site: id, path: '/4' });
    await expectPaths(back, '/3', '/4');
  });

  it('ends when its site is deleted, on every node; a recreated site starts empty', async () => {
    const id = await site();
    await collect({ site: id, path: '/gone' });
    const views = [await openView(id, 0), await openView(id, 1)];
    for (const view of views) await expectPaths(view, '/gone');
    await when('DELETE', `/api/sites/${id}`, asAdmin()).thenAnswered(200);
    for (const view of views) {
      await eventually(() => view.ended);
      expect(view.events.at(-1)?.type).to.equal('SITE_DELETED');
    }
    await given('POST', '/api/sites', asAdmin({ body: { id, domains: ['example.com'] } }));
    const again = await openView(id);
    await collect({ site: id, path: '/new' });
    await expectPaths(again, '/new');
  });

  it('requires the admin token and an existing site', async () => {
    const id = await site();
    await when('GET', `/api/live?site=${id}`).thenRefused(401);
    await when('GET', '/api/live?site=no-such', asAdmin()).thenRefused(404);
    await when('GET', '/api/live', asAdmin()).thenRefused(400);
  });
});
