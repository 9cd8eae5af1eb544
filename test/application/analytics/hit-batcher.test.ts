/** Batches of hits: one event of bounded size each, with every visitor recorded once a day. */
import { expect } from 'chai';
import { BATCH_MS, createHitBatcher, type VisitorHit } from '../../../application/analytics/hit-batcher.js';
import type { PendingEvent } from '../../../application/command/group-commit.js';
import { UnavailableError } from '../../../application/ports/index.js';
import { catalog } from '../../../domain/analytics/catalog.js';
import type { HitsCollected } from '../../../domain/analytics/hit.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';

const NOON = Date.UTC(2026, 10, 22, 12);
const DAY_MS = 86_400_000;
const site = { siteId: 'demo', instance: 'one' };
const hit = (path: string, visitor?: string): VisitorHit => ({ hit: { path }, visitor });

function useCollecting() {
  const appended: (readonly [stream: string, data: HitsCollected['data']])[] = [];
  const ids = new Set<string>();
  let away = false;
  const appender = {
    async append(stream: string, [waiting]: readonly PendingEvent[]) {
      if (away) throw new UnavailableError('away');
      appended.push([stream, waiting!.event.event.data as HitsCollected['data']]);
      ids.add(waiting!.event.id);
      return BigInt(appended.length);
    },
    waitingBytes: () => 0,
  };
  const collecting = createHitBatcher({
    appender,
    aggregates: memoryKernel(memoryWorld(), [catalog]).aggregates,
    origin: { service: 'analytics', release: 'test' },
  });
  return {
    ...collecting,
    appended,
    ids,
    secrets: () => appended.map(([, { secret }]) => secret),
    goAway(isAway: boolean) {
      away = isAway;
    },
  };
}

describe('the hit batcher', () => {
  it('writes one event per site and day for hits that arrive together', async () => {
    const { add, appended, ids } = useCollecting();
    const other = { siteId: 'other', instance: 'two' };
    await Promise.all([
      add(site, NOON, [hit('/a', 'v1'), hit('/b', 'v1')], 'request'),
      add(site, NOON + BATCH_MS, [hit('/c', 'v0')], 'request'),
      add(other, NOON, [hit('/d')], 'request'),
      add(site, NOON + DAY_MS, [hit('/e')], 'request'),
    ]);
    expect(appended.map(([stream]) => stream)).to.deep.equal([
      'analytics.traffic-one-2026-11-22',
      'analytics.traffic-two-2026-11-22',
      'analytics.traffic-one-2026-11-23',
    ]);
    expect(appended[0]?.[1]).to.deep.equal({
      ...site,
      day: '2026-11-22',
      collectedAt: NOON,
      views: 3,
      events: 0,
      secret: { hits: [{ path: '/a' }, { path: '/b' }, { path: '/c' }], visitors: ['v0', 'v1'] },
    });
    expect(ids).to.have.lengthOf(3);
  });

  it('splits hits into events of bounded size', async () => {
    const { add, secrets } = useCollecting();
    const path = `/${'x'.repeat(299)}`;
    const requests = Array.from({ length: 30 }, () =>
      add(
        site,
        NOON,
        Array.from({ length: 100 }, () => hit(path)),
        'request',
      ),
    );
    await Promise.all(requests);
    expect(secrets().reduce((sum, { hits }) => sum + hits.length, 0)).to.equal(3000);
    for (const secret of secrets()) expect(JSON.stringify(secret).length).to.be.lessThan(200 * 1024);
  });

  it('records a visitor once a day', async () => {
    const { add, secrets } = useCollecting();
    await add(site, NOON, [hit('/a', 'v1')], 'request');
    await add(site, NOON, [hit('/b', 'v1'), hit('/c', 'v2')], 'request');
    await add(site, NOON + DAY_MS, [hit('/d', 'v1')], 'request');
    expect(secrets().map(({ visitors }) => visitors)).to.deep.equal([['v1'], ['v2'], ['v1']]);
  });

  it('records a visitor again when the first append failed', async () => {
    const { add, secrets, goAway } = useCollecting();
    goAway(true);
    expect(await add(site, NOON, [hit('/a', 'v1')], 'request').catch((error) => error)).to.be.instanceOf(
      UnavailableError,
    );
    goAway(false);
    await add(site, NOON, [hit('/b', 'v1')], 'request');
    expect(secrets()).to.deep.equal([{ hits: [{ path: '/b' }], visitors: ['v1'] }]);
  });

  it('forgets the visitors of a day that has ended', async () => {
    const { add, forget, cache } = useCollecting();
    const empty = cache.bytes();
    await add(site, NOON, [hit('/a', 'v1')], 'request');
    expect(cache.bytes()).to.be.greaterThan(empty);
    forget('2026-11-22');
    expect(cache.bytes()).to.equal(empty);
  });

  it('bounds the memory of visitors already recorded', async () => {
    const { add, cache } = useCollecting();
    for (let n = 0; n < 3; n++) {
      const visitors = Array.from({ length: 1500 }, (_, at) =>
        hit('/', (at * 7919 + n).toString(16).padStart(16, '0')),
      );
      await add({ siteId: `s${n}`, instance: `i${n}` }, NOON, visitors, 'request');
    }
    expect(cache.bytes()).to.be.within(1, cache.limitBytes);
    // A sketch (HyperLogLog) has a fixed size.
    expect(cache.bytes()).to.be.lessThan(3 * 20_000);
  });
});
