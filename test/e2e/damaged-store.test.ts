/** Damaged stores: the program refuses to start on them, names the problem, and leaves no process running. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockDirectory } from '@annals/engines/internal/supervisor/directory-lock.js';
import { COMPILER_FLAGS } from '@annals/engines/testing/children.js';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { call, createRoom, type RoomClient, type RoomState } from '../support/room-client.js';
import { ANNALS, FREE_PORTS, run, startServer } from '../support/server-process.js';

/** Resolves when the process and everything it started have closed their output. */
const starting = (command: 'serve' | 'engines', dataDir: string) =>
  new Promise<{ code: unknown; stderr: string }>((resolve) => {
    const more = command === 'serve' ? ['rooms', ...FREE_PORTS] : [];
    const args = [...COMPILER_FLAGS, ANNALS, command, '--data-dir', dataDir, ...more];
    execFile(process.execPath, args, (error, _, stderr) => resolve({ code: error?.code ?? 0, stderr }));
  });
const serve = (dataDir: string) => starting('serve', dataDir);

describe('a damaged store', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  const whole = join(directory.path, 'whole');
  const damaged = join(directory.path, 'damaged');
  const files = {
    eventstore: join(damaged, 'eventstore/log/data.mdb'),
    mongo: join(damaged, 'mongo/data.mdb'),
  };

  /** Creates a room with one message. */
  let bob: RoomClient;
  let marked: string;

  before(async () => {
    const server = await startServer(whole, ['rooms']);
    const room = await createRoom(server.urls.rooms ?? '', 'Ada');
    for (let n = 0; n < 20; n++) await room.post(`message ${n}`);
    bob = await createRoom(server.urls.rooms ?? '', 'Bob');
    ({ id: marked } = await bob.post('to be damaged'));
    await bob.state();
    expect(await server.stop()).to.equal(0);
  });
  beforeEach(() => {
    rmSync(damaged, { recursive: true, force: true });
    cpSync(whole, damaged, { recursive: true });
  });
  after(() => directory.remove());

  /** Corrupts every occurrence of the message's id in a file. */
  function damageEach(file: string, damage: (bytes: Buffer, at: number) => void) {
    const bytes = readFileSync(file);
    let hits = 0;
    for (let at = bytes.indexOf(marked); at >= 0; at = bytes.indexOf(marked, at + 1), hits++) damage(bytes, at);
    expect(hits).to.be.at.least(1);
    writeFileSync(file, bytes);
  }

  for (const [engine, file] of Object.entries(files)) {
    // Both commands start the engines in the same way; `serve` loads much more besides.
    for (const [what, damage, says, command] of [
      ['empty', () => truncateSync(file, 0), /data\.mdb is empty, but a store was there: restore/, 'serve'],
      ['missing', () => rmSync(file), /data\.mdb is missing, but a store was there: restore/, 'engines'],
      [
        'cut in its middle',
        () => truncateSync(file, readFileSync(file).length >> 1),
        /data\.mdb is damaged or cut short: restore/,
        'engines',
      ],
      ['cut in its first page', () => truncateSync(file, 100), /damaged or cut short: restore/, 'engines'],
    ] as const) {
      it(`prevents the start with one error line when the store of ${engine} is ${what}`, async () => {
        damage();
        const { code, stderr } = await starting(command, damaged);
        expect(code).to.equal(1);
        // If the cut leaves half of an inner page, LMDB reports its own error.
        expect(stderr)
          .to.match(/^(internal error, index points to [^\n]*\n+)*annals: [^\n]*\n$/)
          .and.match(says);
        lockDirectory(damaged).release();
        lockDirectory(join(damaged, engine)).release();
      });
    }
  }

  it('is distinguished from the store of another engine, and neither is written to', async () => {
    const swap = () => {
      const aside = join(damaged, 'aside');
      renameSync(files.eventstore, aside);
      renameSync(files.mongo, files.eventstore);
      renameSync(aside, files.mongo);
    };
    swap();
    const { code, stderr } = await serve(damaged);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^annals: [^\n]*holds something else[^\n]*restore[^\n]*\n$/);
    swap();
    for (const [engine, file] of Object.entries(files))
      expect(readFileSync(file).equals(readFileSync(file.replace(damaged, whole))), engine).to.equal(true);
  });

  for (const [engine, other] of [
    ['eventstore', 'mongo'],
    ['mongo', 'eventstore'],
  ] as const) {
    it(`prevents every start while only the store of ${other} was restored`, async () => {
      for (const name of [engine, 'stores']) rmSync(join(damaged, name), { recursive: true });
      for (const [time, command] of [
        ['first', 'serve'],
        ['second', 'engines'],
      ] as const) {
        const { code, stderr } = await starting(command, damaged);
        expect(code, time).to.equal(1);
        expect(stderr, time)
          .to.match(/^annals: [^\n]*is empty[^\n]*restore[^\n]*\n$/)
          .and.include(join(damaged, engine));
      }
      cpSync(join(whole, engine), join(damaged, engine), { recursive: true });
      const server = await startServer(damaged, ['rooms']);
      expect(await server.stop()).to.equal(0);
    });
  }

  it('is refused in one line when it has the format of another build', async () => {
    writeFileSync(
      join(damaged, 'stores'),
      'The stores in this directory were created: an empty one means data loss.\n',
    );
    const { code, stderr } = await starting('engines', damaged);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^annals: [^\n]* was made by another build of Annals: start with a new data directory\n$/);
  });

  it('prevents the start and leaves no process running when its address file cannot be written', async () => {
    mkdirSync(join(damaged, 'runtime.json.new'));
    const { code, stderr } = await serve(damaged);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^annals: [^\n]*EISDIR[^\n]*\n$/);
    for (const each of ['', 'eventstore', 'mongo']) lockDirectory(join(damaged, each)).release();
  });

  it('reports the number of skipped events in metrics and health, and keeps serving', async () => {
    damageEach(files.eventstore, (bytes, at) => {
      bytes[at + 2]! ^= 1;
    });
    const server = await startServer(damaged, ['rooms']);
    const metric = async () => {
      const text = await (await fetch(`${server.urls.operations}/metrics`)).text();
      return /^annals_damaged_events (\d+)$/m.exec(text)?.[1];
    };
    await eventually(async () => (await metric()) === '1');
    const { checks } = (await (await fetch(`${server.urls.operations}/health/ready`)).json()) as {
      checks: { name: string; ok: boolean; detail?: string }[];
    };
    const check = checks.find(({ name }) => name === 'events of the log');
    expect(check).to.include({ ok: true });
    expect(check?.detail).to.match(/^1 .*skipped/);
    expect((await createRoom(server.urls.rooms ?? '', 'Eve')).roomId).to.be.a('string');
    expect(await server.stop()).to.equal(0);
    expect(server.lines.filter((line) => line.includes('is damaged and left out'))).to.have.length(1);
  });

  it('answers 503 for a damaged row of a read model until it is rebuilt', async () => {
    damageEach(files.mongo, (bytes, at) => bytes.fill(0, at, at + 8));
    const server = await startServer(damaged, ['rooms']);
    const base = server.urls.rooms ?? '';
    const state = () => call<RoomState>(base, 'GET', `/rooms/${bob.roomId}/state`, { token: bob.sessionToken });
    expect((await state()).status).to.equal(503);
    expect(server.lines.join('\n')).to.match(/annals\.rooms_state_v\w+ is damaged; [^\n]*annals reindex/);
    expect((await run(['reindex', 'rooms.state', '--data-dir', damaged])).code).to.equal(0);
    await eventually(async () => (await state()).body.messages?.some((message) => message.id === marked) ?? false);
    expect(await server.stop()).to.equal(0);
  });

  it('is distinguished from an intact store', async () => {
    const server = await startServer(damaged, ['rooms']);
    expect(await server.stop()).to.equal(0);
  });
});
