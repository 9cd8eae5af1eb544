/** `annals logs tail` as a process: newest records, then live ones, across broken connections, until interrupted. */
import { expect } from 'chai';
import { start } from '../../support/server-process.js';
import { entry, json, useAnnalsLogs } from './fake-log-service.js';

/** A module that runs garbage collection on a signal and reports it. */
const COLLECTING = `data:text/javascript,${encodeURIComponent(
  `import { setFlagsFromString } from 'node:v8'; import { runInNewContext } from 'node:vm';
   setFlagsFromString('--expose-gc'); const gc = runInNewContext('gc');
   process.on('SIGUSR2', () => { gc(); console.error('collected'); });`,
)}`;

describe('annals logs tail', () => {
  const annals = useAnnalsLogs();
  const { logs } = annals;

  it('prints the newest records, then live ones, and resumes after a broken connection', async () => {
    let streams = 0;
    const frameOf = (n: number, id = '') => `${id}data: ${JSON.stringify(entry(n))}\n\n`;
    annals.service.respond = ({ path: requests, headers }, response) => {
      // A page contains everything up to its position, here including new records.
      if (requests === '/api/logs') return json(response, 200, { entries: [entry(2), entry(1)] }, { Position: '15' });
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      if (++streams === 1) {
        response.write(
          `:\n\n${frameOf(1, 'id: 16\n')}${frameOf(2, 'id: 17\n')}${frameOf(3, 'id: 18\n')}${frameOf(4)}id: 19\ndata: {"cut`,
        );
        setImmediate(() => response.destroy());
      } else if (headers['last-event-id'] === '18') {
        response.write(frameOf(4) + frameOf(5));
      }
      return undefined;
    };
    const running = start(['logs', 'tail', '-n', '2', '--url', annals.service.url], {
      cwd: annals.directory.path,
    });
    await running.printed(/order 5/);
    running.process.kill('SIGINT');
    const { code, stdout } = await running.ended;
    expect(code).to.equal(130);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).message),
    ).to.deep.equal(['order 1', 'order 2', 'order 3', 'order 4', 'order 5']);
    const [, first] = annals.service.requests;
    expect(first?.headers['last-event-id']).to.equal('15');
  });

  it('reconnects to a service that has answered, however the connection ends', async () => {
    let streams = 0;
    annals.service.respond = ({ path: requests }, response) => {
      if (requests === '/api/logs') return json(response, 200, { entries: [entry(1)] }, { Position: '17' });
      if (++streams < 3) return response.destroy();
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      return response.write(`data: ${JSON.stringify(entry(2))}\n\n`);
    };
    const running = start(['logs', 'tail', '-n', '1', '--url', annals.service.url], {
      cwd: annals.directory.path,
    });
    await running.printed(/order 2/);
    running.process.kill('SIGINT');
    expect((await running.ended).code).to.equal(130);
  });

  it('ends at the first Ctrl-C, also after garbage collection', async () => {
    annals.service.respond = (_, response) =>
      response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write(`data: ${JSON.stringify(entry(1))}\n\n`);
    const running = start(['logs', 'tail', '-n', '0', '--url', annals.service.url], {
      cwd: annals.directory.path,
      env: { NODE_OPTIONS: `--import ${COLLECTING}` },
    });
    await running.printed(/order 1/);
    running.process.kill('SIGUSR2');
    await running.printed(/collected/);
    running.process.kill('SIGINT');
    expect((await running.ended).code).to.equal(130);
  });

  it('rejects an invalid number of records', async () => {
    const refused = async (lines: string) => {
      const { code, stderr } = await logs(['tail', `--lines=${lines}`]);
      expect({ code, stderr }).to.deep.equal({
        code: 2,
        stderr: `annals: option '-n, --lines <count>' argument '${lines}' is invalid. It must be a whole number of at least 0.\n`,
      });
    };
    await Promise.all(['x', '-1', '1.5'].map(refused));
    expect(annals.service.requests).to.deep.equal([]);
  });

  it('does not retry when the service refuses', async () => {
    annals.service.respond = (_, response) => json(response, 401, { error: 'Who are you?' });
    const { code, stderr } = await logs(['tail']);
    expect({ code, stderr }).to.deep.equal({
      code: 1,
      stderr: 'annals: the log service answered: Who are you? (401)\n',
    });
  });
});
