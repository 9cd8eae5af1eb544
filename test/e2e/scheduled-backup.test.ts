/** Backups that a server makes by itself. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockDirectory } from '@annals/engines';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { backupName, newestBackup, scheduledBackups } from '../../bin/node/scheduled-backups.js';
import { call, createRoom } from '../support/room-client.js';
import { run, type Server, startServer } from '../support/server-process.js';

const HOUR_MS = 3_600_000;

describe('a scheduled backup', function () {
  this.timeout(120_000);
  const temporary = temporaryDirectory();
  const directory = join(temporary.path, 'backups');
  const dataDir = join(temporary.path, 'data');
  const old = ['annals-2020-01-01T00-00-00Z', 'annals-2021-01-01T00-00-00Z'] as const;
  const killed = 'annals-2022-01-01T00-00-00Z.unfinished';
  const running = 'annals-2023-01-01T00-00-00Z.unfinished';
  const future = 'annals-2199-01-01T00-00-00Z';
  const servers: Server[] = [];
  after(async () => {
    for (const each of servers) await each.stop('SIGKILL');
    temporary.remove();
  });

  it('is made beside the server and can be started; the oldest one and what a killed one left are removed', async () => {
    for (const name of [...old, killed, running, future, 'of somebody else'])
      mkdirSync(join(directory, name), { recursive: true });
    const { release } = lockDirectory(join(directory, running));
    const server = await startServer(dataDir, ['rooms', '--backup-directory', directory, '--backup-keep', '2']);
    servers.push(server);
    await eventually(() => !readdirSync(directory).includes(old[0]));
    const present = readdirSync(directory).filter((name) => !old.includes(name as never));
    // One that another process makes, and the name of a wrong clock: left alone, and neither newest nor counted.
    expect(present).to.include.members([running, future]);
    const [newest = '', ...others] = present.filter((name) => name !== running && name !== future);
    expect(others).to.deep.equal(['of somebody else']);
    expect(newestBackup(directory)).to.be.closeTo(Date.now(), HOUR_MS);
    release();
    expect(readdirSync(directory)).to.include(old[1]);
    expect(Date.now() - Date.parse(newest.replace(/^annals-(.*T..)-(..)-(..)Z$/, '$1:$2:$3Z'))).to.be.below(HOUR_MS);
    await server.stop();
    const copied = await startServer(join(directory, newest), ['rooms']);
    servers.push(copied);
    const { roomId, sessionToken: token } = await createRoom(copied.urls.rooms ?? '', 'Ada');
    expect((await call(copied.urls.rooms ?? '', 'GET', `/rooms/${roomId}/state`, { token })).status).to.equal(200);
  });

  it('is not made before it is due, nor for configured servers', async () => {
    const recent = join(temporary.path, 'recent');
    mkdirSync(join(recent, backupName(Date.now() - HOUR_MS)), { recursive: true });
    const settings = { dataDir, 'backup.directory': recent, 'backup.everyHours': 2, 'backup.keep': 1 };
    const logged: object[] = [];
    const log = (details: object) => void logged.push(details);
    const logger = { info: log, warn: log, error: log, debug: log };
    const job = scheduledBackups(settings as never, logger as never);
    await job?.run(new AbortController().signal);
    expect(logged).to.deep.equal([]);
    expect(readdirSync(recent)).to.have.length(1);

    const { code, stderr } = await run([
      'serve',
      '--backup-directory',
      recent,
      '--mongo-url',
      'mongodb://127.0.0.1:1/',
    ]);
    expect(code).to.equal(2);
    expect(stderr).to.include('back up configured servers with their tools');
  });

  it('that fails is logged with its reason', async () => {
    const file = join(temporary.path, 'file');
    writeFileSync(file, '');
    const server = await startServer(dataDir, ['rooms', '--backup-directory', join(file, 'backups')]);
    servers.push(server);
    await eventually(() =>
      server.lines.some((line) => /scheduled backup failed/.test(line) && line.includes('ENOTDIR')),
    );
    const metrics = await (await fetch(`${server.urls.operations}/metrics`)).text();
    expect(metrics).to.match(/^annals_errors_logged_total [1-9]/m);
  });

  it('must be outside of the data directory', async () => {
    const { code, stderr } = await run([
      'serve',
      '--data-dir',
      dataDir,
      '--backup-directory',
      join(dataDir, 'backups'),
    ]);
    expect(code).to.equal(2);
    expect(stderr).to.include('backup.directory must be outside of the data directory');
  });
});
