/** Cleaning up over HTTP, by the contract: what is older than it is kept goes, from rows and log, and stays gone. */
import { expect } from 'chai';
import { newEvent } from '../../../application/command/new-event.js';
import { collected, trafficStream } from '../../../domain/analytics/traffic.js';
import { asAdmin, useAnalytics } from '../../support/analytics-node.js';
import { eventually } from '../../support/condition.js';

const DAY_MS = 86_400_000;
const dayAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

describe('cleaning up', function () {
  this.timeout(60_000);
  const nodes = useAnalytics({ '--analytics-retention-days': '10' });
  const { site, collect, written, when } = nodes;

  /** As a node would have written it whose clock was there. */
  async function collectedAgo(siteId: string, instance: string, days: number) {
    const { kernel } = nodes.ground;
    const event = collected({ siteId, instance }, Date.now() - days * DAY_MS, [{ path: `/${days}` }], []);
    const stream = trafficStream(instance, event.data.day);
    const origin = { service: 'analytics', release: 'test' };
    await kernel.log.append(stream, 'none', [
      newEvent(origin, stream, event, 0, kernel.systemContext('test')),
    ]);
  }

  it('deletes whole days that are older, once, and keeps the others', async () => {
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
    const cleaned = async () =>
      (await when('POST', '/api/cleanup', asAdmin({ body: {} })).thenAnswered(200)).body;
    const none = {
      aggregateCutoffDate: dayAgo(10),
      aggregateRowsDeleted: 0,
      rawCutoffTimestamp: null,
      rawRowsDeleted: 0,
    };
    expect(await cleaned()).to.deep.equal({ ...none, aggregateRowsDeleted: 2 });
    expect(await pages()).to.deep.equal(['/10', '/today']);
    expect(await cleaned()).to.deep.equal(none);
    expect(await pages()).to.deep.equal(['/10', '/today']);
  });

  it('is for the admin', () => when('POST', '/api/cleanup', { body: {} }).thenRefused(401));
});
