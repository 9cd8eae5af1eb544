/** A short run of `npm run faults`: both engines and all nodes are killed under load on all services. */
import { expect } from 'chai';
import { faults } from './rounds/faults.js';
import { type Installation, startInstallation } from './rounds/installation.js';
import { runRound } from './rounds/rounds.js';

describe('two nodes under load', function () {
  this.timeout(480_000);
  let installation: Installation;
  before(async () => {
    installation = await startInstallation(2);
  });
  after(() => installation?.stop());

  it('lose nothing acknowledged and store nothing twice when everything is killed', async () => {
    const everything = faults.find(({ name }) => name === 'kill everything');
    const { acknowledged, violations } = await runRound(installation, everything!, { ms: 4000, pick: () => 0 });
    expect(violations).to.deep.equal([]);
    expect(acknowledged).to.be.greaterThan(20);
  });
});
