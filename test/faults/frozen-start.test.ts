/** A start beside a store that is frozen: it fails, and the process ends, so that whoever supervises it starts it again. */
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { run } from '../support/command-line.js';
import { FREE_PORTS, type Server, startServer } from '../support/server-process.js';

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
    it(`ends with 1 when it is that of ${engine}`, async () => {
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

  it('is told by whoever would read the log to its end', async () => {
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
