/** `annals replay` beside a running server: start positions, standard output and standard error. */
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createRoom } from '../support/room-client.js';
import { run, type Server, start, startServer } from '../support/server-process.js';

describe('annals replay', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  let server: Server;
  before(async () => {
    server = await startServer(directory.path, ['rooms']);
    for (const name of ['Ada', 'Bob', 'Cleo']) await createRoom(server.urls.rooms ?? '', name);
  });
  after(async () => {
    await server?.stop();
    directory.remove();
  });

  const args = (...more: string[]) => ['replay', '--data-dir', directory.path, '--format', 'ndjson', ...more];
  const positionsIn = (stdout: string) =>
    stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => BigInt(JSON.parse(line).position));

  it('starts at the next event when no event has the given position', async () => {
    const all = positionsIn((await run(args())).stdout);
    expect(all.length).to.be.greaterThan(3);
    const [first = 0n, second = 0n] = all;
    const last = all.at(-1)!;
    expect(second > first + 1n).to.equal(true);
    const cases: [position: bigint, found: bigint[]][] = [
      [first + 1n, all.slice(1)],
      [last, []],
      [last + 1n, []],
      [2n ** 63n, []],
    ];
    await Promise.all(
      cases.map(async ([position, found]) => {
        const { code, stdout, stderr } = await run(args('--position', String(position)));
        expect({ code, stderr }, String(position)).to.deep.equal({ code: 0, stderr: '' });
        expect(positionsIn(stdout), String(position)).to.deep.equal(found);
      }),
    );
  });

  it('shows what a request caused, as a tree and as CSV', async () => {
    const created = JSON.parse((await run(args('--type', 'RoomCreated'))).stdout.split('\n', 1)[0]!);
    const correlation = created.metadata.$correlationId;
    const of = ['replay', '--data-dir', directory.path, '--correlation', correlation];
    const tree = await run([...of, '--format', 'tree']);
    expect(tree.stdout).to.match(/^\S+Z RoomCreated rooms\.room-\S+@0 /);
    const csv = await run([...of, '--format', 'csv']);
    const [head, first] = csv.stdout.split('\n');
    expect(head).to.match(/^recordedAt,position,stream/);
    expect(first).to.include(`,${correlation},`);
    const withoutCorrelation = await run(args('--format', 'tree'));
    expect(withoutCorrelation.code).to.equal(1);
    expect(withoutCorrelation.stderr).to.include('--format tree needs --correlation');
  });

  it('prints warnings to standard error and only events to standard output', async () => {
    const following = start(args('--follow'));
    await following.printed(/"position"/);
    process.kill(server.pids.eventstore!, 'SIGKILL');
    await following.printed(/subscription/);
    following.process.kill('SIGINT');
    const { stdout, stderr } = await following.ended;
    expect(positionsIn(stdout)).to.not.be.empty;
    expect(stderr).to.include('subscription');
  });
});
