/** The program as tests start it: they wait until it says that it is ready, and never for what it will not say. */
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { startServer } from '../support/server-process.js';

describe('a server that a test starts', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  after(directory.remove);

  it('is waited for whatever the environment says of its lines', async () => {
    const server = await startServer(directory.path, ['rooms'], { ANNALS_LOG_LEVEL: 'silent' });
    expect(await server.stop()).to.equal(0);
  });

  it('is refused where flags have it say nothing', async () => {
    for (const flags of [['--log-level', 'warn'], ['--log-level=silent']]) {
      const refused = await startServer(directory.path, flags).catch((error) => error);
      expect(String(refused)).to.include('nothing would tell');
    }
  });
});
