/** `annals doctor`: what it finds, and its exit code. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEngines } from '@annals/engines/internal/supervisor/supervisor.js';
import { silentLogger, temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { connectMongo } from '../../adapters/mongo/client.js';
import { backupName } from '../../bin/node/scheduled-backups.js';
import { createRoom } from '../support/room-client.js';
import { run, type Server, startServer } from '../support/server-process.js';

const HOUR_MS = 3_600_000;

describe('annals doctor', function () {
  this.timeout(120_000);
  const temporary = temporaryDirectory();
  const dataDir = join(temporary.path, 'data');
  const backups = join(temporary.path, 'backups');
  let server: Server | undefined;
  after(async () => {
    await server?.stop('SIGKILL');
    temporary.remove();
  });

  const examine = async (...flags: string[]) => {
    const { code, stdout } = await run(['doctor', '--data-dir', dataDir, ...flags]);
    const lines = stdout.split('\n').map((line) => line.split(/ {2,}/));
    const findings = new Map(lines.map(([level = '', check = '', text = '']) => [check, `${level}: ${text}`]));
    return { code, findings };
  };
  const hoursAgo = (hours: number) =>
    mkdirSync(join(backups, backupName(Date.now() - hours * HOUR_MS)), { recursive: true });

  it('has an error where there is no data, and with servers that do not answer', async () => {
    const { code, findings } = await examine();
    expect(code).to.equal(1);
    expect(findings.get('stores')).to.match(/^ERROR: there is no data in/);
    const away = ['--event-store-url', 'esdb://127.0.0.1:1?tls=false', '--mongo-url', 'mongodb://127.0.0.1:1/'];
    const unreachable = await examine(...away);
    expect(unreachable.code).to.equal(1);
    expect(unreachable.findings.get('stores')).to.match(/^ERROR: MongoDB does not answer/);
    expect(unreachable.findings.get('secret')).to.match(/^warning: .*keys rotate/);
  });

  it('finds nothing wrong beside a running server, but warns of what is missing', async () => {
    server = await startServer(dataDir, ['rooms']);
    await createRoom(server.urls.rooms ?? '', 'Ada');
    const { code, findings } = await examine();
    expect(code).to.equal(0);
    expect(findings.get('stores')).to.equal('ok: embedded engines answer');
    expect(findings.get('clock')).to.match(/^ok: -?0\.\d s ahead/);
    expect(findings.get('disk')).to.match(/^ok: .* GB free/);
    expect(findings.get('read models')).to.include('chat.messages').and.not.include('rooms.state');
    expect(findings.get('transparency log')).to.match(/^ok: \d+ entries, up to date/);
    expect(findings.get('backups')).to.match(/^warning: none are scheduled/);
  });

  it('warns of read models and a transparency log that are behind', async () => {
    await server?.stop();
    const stores = await startEngines({ dataDir, logger: silentLogger });
    const secret = readFileSync(join(dataDir, 'secret'), 'utf8').trim();
    const servers = ['--event-store-url', stores.eventStoreUrl, '--mongo-url', stores.mongoUrl, '--secret', secret];
    const given = await examine(...servers);
    expect(given.findings.get('stores')).to.match(/^ok: EventStoreDB \d+\.\d+\S* and MongoDB \d+\.\d+\S* answer$/);
    const client = await connectMongo(stores.mongoUrl, 'annals');
    // As if no server had run for a long time.
    await client.models.collection('checkpoints').deleteMany({ lease: 'projector:rooms' });
    await client.audit.dropDatabase();
    await client.close();
    await stores.stop();
    const hours = {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(`const { now } = Date; Date.now = () => now() + ${2 * HOUR_MS};`)}`,
    };
    const { stdout } = await run(['doctor', '--data-dir', dataDir], '', { env: hours });
    expect(stdout).to.match(/^warning +read models +behind the log .*: rooms\.state by 7\d{3} s/m);
    expect(stdout).to.match(/^warning +transparency log +behind the log by 7\d{3} s/m);
  });

  it('has an error when scheduled backups are missing or late', async () => {
    const backupErrors = async () => {
      const { code, findings } = await examine('--backup-directory', backups);
      return [code, findings.get('backups')?.split(' in ')[0]];
    };
    const stores = await startEngines({ dataDir, logger: silentLogger });
    expect(await backupErrors()).to.deep.equal([1, 'ERROR: there is none']);
    hoursAgo(49);
    expect(await backupErrors()).to.deep.equal([1, 'ERROR: the newest is 49 hours old']);
    hoursAgo(3);
    expect(await backupErrors()).to.deep.equal([0, 'ok: the newest is 3 hours old']);
    await stores.stop();
  });
});
