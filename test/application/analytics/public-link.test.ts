/** Public links of sites: a revoked one ends on nodes whose live feed has not delivered that yet. */
import { expect } from 'chai';
import { createSiteDirectory, createSites } from '../../../application/analytics/sites.js';
import { catalog } from '../../../domain/analytics/catalog.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { context } from '../../support/toy-service.js';

describe('a public link of a site', () => {
  const world = memoryWorld();
  function node() {
    const kernel = memoryKernel(world, [catalog]);
    const directory = createSiteDirectory(kernel.aggregates);
    const clock = { now: () => 1000 };
    return createSites({
      ...kernel,
      directory,
      clock,
      countDays: async () => 0,
      appUrl: () => 'https://stats.example',
    });
  }
  type Site = Extract<Awaited<ReturnType<ReturnType<typeof node>['share']>>, { readonly body: object }>['body']['site'];
  const siteOf = (outcome: { readonly body: { readonly site: Site } } | { readonly rejected: string }): Site => {
    if (isRejection(outcome)) throw new Error(outcome.rejected);
    return (outcome as { readonly body: { readonly site: Site } }).body.site;
  };

  it('opens the reports of its site on every node, until it is revoked', async () => {
    const [one, other] = [node(), node()];
    siteOf(await one.create({ id: 'demo', domains: ['example.com'] }, context()));
    const { shareUrl } = siteOf(await one.share('demo', context()));
    const token = shareUrl!.split('#')[1]!;
    expect((await other.findShared(token))?.siteId).to.equal('demo');
    for (const wrong of ['', 'demo', `${token}x`, token.slice(0, -1), `other.${token.split('.')[1]}`])
      expect(await other.findShared(wrong), wrong).to.equal(undefined);
    siteOf(await one.unshare('demo', context()));
    expect(await other.findShared(token)).to.equal(undefined);
    const { shareUrl: next } = siteOf(await one.share('demo', context()));
    expect(next).not.to.equal(shareUrl);
    expect(await other.findShared(token)).to.equal(undefined);
  });
});
