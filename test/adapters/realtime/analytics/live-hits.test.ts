/** The live view of hits without a socket: its window, and sites deleted meanwhile. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { createLiveHits, LIVE_WINDOW_MS, type LiveHits } from '../../../../adapters/realtime/analytics/live-hits.js';
import type { Sink } from '../../../../adapters/realtime/relay/sink.js';
import type { LiveEvent } from '../../../../application/subscription/live-feed.js';
import type { catalog } from '../../../../domain/analytics/catalog.js';
import { eventAt } from '../../../support/memory-ports.js';

const NOW = 1_800_000_000_000;

function client() {
  const sent: { readonly type: string; readonly path?: string }[] = [];
  const ended: string[] = [];
  const sink: Sink = {
    send: ({ json }) => void sent.push(JSON.parse(json)),
    beat: () => {},
    buffered: () => 0,
    onDrain: () => {},
    end: (how) => void ended.push(how),
    cut: () => void ended.push('cut'),
    onClose: () => {},
  };
  return { sent, ended, sink };
}

const event = (position: bigint, type: string, data: object) =>
  eventAt(position, type, data as never) as unknown as LiveEvent<typeof catalog>;
const hits = (position: bigint, ago: number, instance = 'one') =>
  event(position, 'HitsCollected', { siteId: 'a', instance, collectedAt: NOW - ago, secret: 'sealed' });

describe('live view of hits', () => {
  let live: LiveHits;
  beforeEach(() => {
    live = createLiveHits({
      hitsOf: async ({ position }) => [{ path: `/${position}` }],
      from: 0n,
      head: async () => 100n,
      clock: { now: () => NOW },
      failed: (error) => {
        throw error;
      },
    });
  });
  afterEach(() => live.close());

  async function seen(after: bigint | undefined, ...paths: readonly string[]) {
    const { sent, sink } = client();
    live.connect({ instance: 'one', after }, sink);
    await eventually(() => sent.length >= paths.length);
    live.publish(hits(100n, 0, 'one'));
    await eventually(() => sent.at(-1)?.path === '/100');
    expect(sent.map(({ path }) => path)).to.deep.equal([...paths, '/100']);
  }

  const publishAll = () => {
    live.publish(hits(1n, LIVE_WINDOW_MS + 1));
    live.publish(hits(2n, LIVE_WINDOW_MS));
    live.publish(hits(3n, 10, 'other'));
    live.publish(hits(4n, 5));
  };

  it('covers exactly the last five minutes', async () => {
    publishAll();
    await seen(undefined, '/2', '/4');
  });

  it('does not show imported past hits', async () => {
    const { sent, sink } = client();
    live.connect({ instance: 'one' }, sink);
    live.publish(hits(1n, LIVE_WINDOW_MS + 1));
    live.publish(hits(2n, 0));
    await eventually(() => sent.length > 0);
    expect(sent.map(({ path }) => path)).to.deep.equal(['/2']);
  });

  it('resumes after a cursor, or starts with the last minutes for old and missing cursors', async () => {
    publishAll();
    await seen(3n, '/4');
    for (const after of [0n, -1n]) {
      live.close();
      const { sent, sink } = client();
      live = createLiveHits({
        hitsOf: async ({ position }) => [{ path: `/${position}` }],
        from: 0n,
        head: async () => 100n,
        clock: { now: () => NOW },
        failed: () => {},
      });
      publishAll();
      live.connect({ instance: 'one', after }, sink);
      await eventually(() => sent.length >= 2);
      expect(sent.map(({ path }) => path)).to.deep.equal(['/2', '/4']);
    }
  });

  it('ends at once when its site was deleted during the request, and keeps nothing of it', () => {
    publishAll();
    const before = live.sizeBytes();
    live.publish(event(5n, 'SiteDeleted', { siteId: 'a', instance: 'one', registeredAt: 1, deletedAt: 2 }));
    expect(live.sizeBytes()).to.be.lessThan(before / 2);
    const { sent, ended, sink } = client();
    live.connect({ instance: 'one' }, sink);
    expect(sent).to.deep.equal([{ type: 'SITE_DELETED' }]);
    expect(ended).to.deep.equal(['over']);
  });
});
