/** The site directory knows sites that another node has just created, before the live feed delivers them. */
import { expect } from 'chai';
import { sitesAggregate } from '../../../application/analytics/aggregates.js';
import { createSiteDirectory } from '../../../application/analytics/sites.js';
import { catalog, siteSubject } from '../../../domain/analytics/catalog.js';
import { SITES } from '../../../domain/analytics/sites.js';
import { deleteSite, registerSite } from '../../support/analytics-fixtures.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';

describe('the site directory', () => {
  const nodes = () => {
    const world = memoryWorld();
    const node = () => {
      const kernel = memoryKernel(world, [catalog]);
      return { ...kernel, ...createSiteDirectory(kernel.aggregates) };
    };
    const [one, other] = [node(), node()];
    const run = async (command: ReturnType<typeof registerSite>) => {
      await one.vault.create(siteSubject({ instance: 'one' }));
      await one.handle(sitesAggregate, SITES, command, one.systemContext('test'));
    };
    return { one, other, run };
  };

  it('reads the log for an unknown site', async () => {
    const { other, run } = nodes();
    await run(registerSite('first'));
    expect((await other.find(['first', 'demo']))('demo')).to.equal(undefined);
    await run(registerSite('demo'));
    expect((await other.find(['demo']))('demo')).to.include({ siteId: 'demo', instance: 'one' });
    expect((await other.find(['demo']))('no-site')).to.equal(undefined);
  });

  it('reads the log when the caller requires a later position', async () => {
    const { one, other, run } = nodes();
    await run(registerSite('demo'));
    await other.all();
    await run(deleteSite('demo'));
    expect((await other.all(await one.head())).state.size).to.equal(0);
  });
});
