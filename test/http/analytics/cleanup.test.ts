/** Data cleanup over HTTP: expired data is deleted from read models and log, and stays deleted. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { newEvent } from '../../../application/command/event-envelope.js';
import { hitsCollected, trafficStream } from '../../../domain/analytics/hit.js';
import { asAdmin, useAnalytics } from '../../support/analytics-node.js';
import { run } from '../../support/server-process.js';

const DAY_MS = 86_400_000;
const dayAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

describe('data cleanup', function () {
  this.timeout(60_000);
  const nodes = useAnalytics({
    '--analytics-retention-days': '10',
    '--analytics-store-raw': 'true',
    '--analytics-raw-retention-hours': '2',
  });
  const { site, collect, written, when } = nodes;

  /** Appends hits as a node would have on an earlier day. */
  async function collectedAgo(siteId: string, instance: string, days: number, isRaw = false) {
    const { kernel } = nodes.observer;
    const event = hitsCollected({ siteId, instance }, Date.now() - days * DAY_MS, [{ path: `/${days}` }], [], isRaw);
    const stream = `${trafficStream(instance, event.data.day)}${isRaw ? '-raw' : ''}`;
    const origin = { service: 'analytics', release: 'test' };
    await kernel.log.append(stream, 'none', [newEvent(origin, stream, event, 0, kernel.systemContext('test'))]);
  }

  async function cleanup() {
    const { body } = await when('POST', '/api/cleanup', asAdmin({ body: {} })).thenAnswered(200);
    const { rawCutoffTimestamp, ...result } = body;
    expect(Date.now() - Date.parse(rawCutoffTimestamp)).to.be.within(7_200_000, 7_200_000 + 60_000);
    return result;
  }

  it('deletes expired raw records once, and keeps newer ones and the aggregates', async () => {
    const id = await site();
    await collect({ site: id, path: '/now' }, { 'user-agent': 'Quarantined/1.0' });
    const [{ data }] = (await written(id)) as [Awaited<ReturnType<typeof written>>[number]];
    await collectedAgo(id, data.instance, 0.125, true);
    const command = ['analytics', 'raw', id, ...nodes.storeFlags];
    const rawLines = async () => (await run(command)).stdout.split('\n').filter(Boolean);
    await eventually(async () => (await rawLines()).length === 2);
    const raw = (await rawLines()).map((line) => JSON.parse(line));
    expect(raw.map(({ path }) => path)).to.deep.equal(['/0.125', '/now']);
    expect(JSON.stringify(raw)).not.to.match(/Quarantined|127\.0\.0\.1/);
    expect((await cleanup()).rawRowsDeleted).to.equal(1);
    expect(await rawLines()).to.have.lengthOf(1);
    expect((await cleanup()).rawRowsDeleted).to.equal(0);
    const { body } = await when('GET', `/api/report?site=${id}&days=2`, asAdmin()).thenAnswered(200);
    expect(body.totals.pageviews).to.equal(2);
  });

  it('deletes expired days once, and keeps newer ones', async () => {
    const id = await site();
    await collect({ site: id, path: '/today' });
    const [{ data }] = (await written(id)) as [Awaited<ReturnType<typeof written>>[number]];
    await collectedAgo(id, data.instance, 12);
    await collectedAgo(id, data.instance, 11);
    await collectedAgo(id, data.instance, 10);
    const pages = async () => {
      const { body } = await when('GET', `/api/report?site=${id}&days=20`, asAdmin()).thenAnswered(200);
      return body.pages.map(({ name }: { name: string }) => name);
    };
    await eventually(async () => (await pages()).length === 4);
    const none = {
      aggregateCutoffDate: dayAgo(10),
      aggregateRowsDeleted: 0,
      rawRowsDeleted: 0,
    };
    expect(await cleanup()).to.deep.equal({ ...none, aggregateRowsDeleted: 2 });
    expect(await pages()).to.deep.equal(['/10', '/today']);
    expect(await cleanup()).to.deep.equal(none);
    expect(await pages()).to.deep.equal(['/10', '/today']);
  });

  it('requires the admin token', () => when('POST', '/api/cleanup', { body: {} }).thenRefused(401));
});
