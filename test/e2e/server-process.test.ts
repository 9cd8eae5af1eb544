/** Starting the program in tests: waits for readiness, and fails early if its output would hide it. */
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { startServer } from '../support/server-process.js';

describe('a server started by a test', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  after(directory.remove);

  it('is waited for whatever the environment says about log output', async () => {
    const server = await startServer(directory.path, ['rooms'], { ANNALS_LOG_LEVEL: 'silent' });
    expect(await server.stop()).to.equal(0);
  });

  it('is refused when flags disable its log output', async () => {
    for (const flags of [['--log-level', 'warn'], ['--log-level=silent']]) {
      const refused = await startServer(directory.path, flags).catch((error) => error);
      expect(String(refused)).to.include('nothing would tell');
    }
  });
});
