/** Starts beside a frozen store fail and exit, so that a supervisor can retry. */
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { FREE_PORTS, run, type Server, startServer } from '../support/server-process.js';

describe('a start beside a frozen store', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  let server: Server;
  before(async () => {
    server = await startServer(directory.path, ['rooms']);
  });
  after(async () => {
    await server?.stop('SIGKILL');
    directory.remove();
  });

  for (const engine of ['eventstore', 'mongo'])
    it(`exits with 1 when the store of ${engine} is frozen`, async () => {
      const pid = server.pids[engine]!;
      process.kill(pid, 'SIGSTOP');
      try {
        const { code, stderr } = await run(['serve', 'rooms', '--data-dir', directory.path, ...FREE_PORTS]);
        expect(code).to.equal(1);
        expect(stderr).to.match(/^annals: .*(silent|answer)/m);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
    });

  it('fails for commands that read the log to its end', async () => {
    const pid = server.pids.eventstore!;
    process.kill(pid, 'SIGSTOP');
    try {
      const { code, stderr } = await run(['replay', '--data-dir', directory.path]);
      expect(code).to.equal(1);
      expect(stderr).to.match(/^annals: .*silent/m);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });
});
