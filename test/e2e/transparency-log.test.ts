/** The transparency log of the real program: proofs that others can check, and every change of the log is found. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { streamNameOf } from '@annals/engines/internal/eventstore/log/record.js';
import { openStore } from '@annals/engines/internal/eventstore/log/store.js';
import { startEngines } from '@annals/engines/internal/supervisor/supervisor.js';
import { eventually } from '@annals/engines/testing/condition.js';
import { silentLogger, temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { logClient } from '../support/log-client.js';
import { createRoom, type RoomClient } from '../support/room-client.js';
import { type Ended, eventsIn, run, type Server, startServer } from '../support/server-process.js';
import { startWitness } from '../support/witness.js';

const SERVED = ['rooms', 'logs', '--rooms-create-per-hour', '100000'];
/** Events after which a running server signs a checkpoint. */
const CHECKPOINT_EVENTS = 1000;

describe('the transparency log', function () {
  this.timeout(240_000);
  const directory = temporaryDirectory();
  const place = (name: string) => join(directory.path, name);
  const [dataDir, exported] = [place('data'), place('export')];
  let server: Server;
  /** Run between servers, for the commands of several tests. */
  let engines: Awaited<ReturnType<typeof startEngines>> | undefined;
  let room: RoomClient;
  let key: string;

  const audit = (words: string, from = dataDir) => run(['audit', ...words.split(' '), '--data-dir', from]);
  const succeeded = ({ code, stdout, stderr }: Ended) => {
    expect([code, stderr], stdout).to.deep.equal([0, '']);
    return stdout;
  };
  const failed = ({ code, stdout, stderr }: Ended) => {
    expect([code, stdout], stderr).to.deep.equal([1, '']);
    return stderr;
  };
  const stopEngines = async () => {
    await engines?.stop();
    engines = undefined;
  };
  const get = (path: string) => fetch(`${server.urls.operations}/audit/${path}`);
  const sizeOf = (checkpoint: string) => Number(checkpoint.split('\n')[1]);

  before(async () => {
    server = await startServer(dataDir, SERVED);
    room = await createRoom(server.urls.rooms ?? '', 'Ada');
    await room.post('before');
  });
  after(async () => {
    await server?.stop('SIGKILL');
    await engines?.stop();
    directory.remove();
  });

  it('is signed every thousand events by a running server, and served as files', async () => {
    expect((await get('checkpoint')).status).to.equal(404);
    const logs = logClient(server.urls.logs ?? '');
    const lane = async (each: number) => {
      for (let n = 0; n < CHECKPOINT_EVENTS / 10; n++) await logs.ingest([{ message: `${each} ${n}` }]);
    };
    await Promise.all(Array.from({ length: 10 }, (_, each) => lane(each)));
    await eventually(async () => (await get('checkpoint')).status === 200);
    const answer = await get('checkpoint');
    expect(answer.headers.get('content-type')).to.match(/^text\/plain/);
    const size = sizeOf(await answer.text());
    expect(size).to.be.at.least(CHECKPOINT_EVENTS);
    for (const [path, bytes] of [
      ['tile/0/000', 256 * 32],
      ['tile/0/001', 256 * 32],
      [`tile/1/000.p/${Math.floor(size / 256)}`, Math.floor(size / 256) * 32],
      [`tile/0/00${Math.floor(size / 256)}.p/${size % 256}`, (size % 256) * 32],
    ] as const)
      expect((await (await get(path)).arrayBuffer()).byteLength, path).to.equal(bytes);
    for (const path of ['tile/0/999', 'tile/9/000', 'tile/0/x000/000', 'tile/entries/000.p/300'])
      expect((await get(path)).status, path).to.equal(404);
    const bundle = Buffer.from(await (await get('tile/entries/000')).arrayBuffer());
    expect(JSON.parse(bundle.toString('utf8', 2, 2 + bundle.readUInt16BE()))).to.have.property('key');
  });

  it('agrees with the log, beside a server and without one', async () => {
    expect(succeeded(await audit('verify'))).to.match(/every entry agrees\n[\d,]+ events of the log agree/);
    expect(await server.stop()).to.equal(0);
    expect(succeeded(await audit('verify'))).to.match(/every entry agrees\n[\d,]+ events of the log agree\n$/);
    engines = await startEngines({ dataDir, logger: silentLogger });
    key = succeeded(await audit('key')).trim();
    writeFileSync(place('head'), succeeded(await audit('head')));
  });

  it('proves an event to somebody who has the key only', async () => {
    const proof = succeeded(await audit(`prove rooms.room-${room.roomId}@0`));
    writeFileSync(place('proof'), proof);
    const away = place('away');
    mkdirSync(away);
    const checked = await audit(`verify --proof ${place('proof')} --key ${key}`, away);
    expect(succeeded(checked)).to.include(`"stream":"rooms.room-${room.roomId}"`);
    const lines = proof.split('\n');
    lines[3] = `${'A'.repeat(43)}=`;
    writeFileSync(place('proof'), lines.join('\n'));
    expect(failed(await audit(`verify --proof ${place('proof')} --key ${key}`, away))).to.include('does not show');
    expect(failed(await audit('prove 1'))).to.include('no event at position 1 is in the newest checkpoint\n');
  });

  it('is exported, and verified from the export alone', async () => {
    succeeded(await audit(`export ${exported}`));
    const away = place('away');
    const offline = () => audit(`verify --offline ${exported} --key ${key}`, away);
    expect(succeeded(await offline())).to.include('every entry agrees');
    expect(readdirSync(away)).to.deep.equal([]);
    const stranger = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
    expect(failed(await audit(`verify --offline ${exported} --key ${stranger}`, away))).to.include('not signed');
    const bundle = join(exported, 'tile/entries/001');
    const bundleText = readFileSync(bundle);
    const changed = Buffer.from(bundleText);
    changed[changed.indexOf('"revision":"') + '"revision":"'.length]! ^= 1;
    writeFileSync(bundle, changed);
    expect(failed(await offline())).to.match(/does not have the hash in tile\/0\/001 \(entry \d+, position \d+\)/);
    writeFileSync(bundle, bundleText);
  });

  it('names an event that was changed in the store', async () => {
    const tampered = place('tampered');
    await stopEngines();
    cpSync(dataDir, tampered, { recursive: true });
    const store = openStore(join(tampered, 'eventstore'));
    for (const { key: position, value } of store.log.getRange()) {
      if (streamNameOf(value) !== `rooms.messages-${room.roomId}`) continue;
      const changed = Buffer.from(value);
      const at = changed.indexOf('"actor":"') + '"actor":"'.length;
      changed[at]! ^= 1;
      changed.writeUInt32LE(crc32(changed.subarray(0, -4)), changed.length - 4);
      await store.log.put(position, changed);
    }
    store.file.close();
    await store.environment.close();
    expect(failed(await audit('verify', tampered))).to.match(
      /the metadata of the event was changed \(entry \d+, position \d+\)/,
    );
  });

  it('finds a log that was cut and written anew, until that is recorded', async () => {
    const [store, bundleText] = [join(dataDir, 'eventstore'), place('kept')];
    cpSync(store, bundleText, { recursive: true });
    server = await startServer(dataDir, SERVED);
    const lost = await createRoom(server.urls.rooms ?? '', 'Bob');
    await lost.post('lost');
    expect(await server.stop()).to.equal(0);
    succeeded(await audit('head'));
    rmSync(store, { recursive: true });
    cpSync(bundleText, store, { recursive: true });
    expect((await audit('verify')).stderr).to.match(/an event is missing from rooms\./);
    server = await startServer(dataDir, SERVED);
    for (let n = 0; n < 10; n++) await createRoom(server.urls.rooms ?? '', 'Cid');
    await eventually(() => server.lines.some((line) => line.includes('annals audit restart')));
    expect(await server.stop()).to.equal(0);
    engines = await startEngines({ dataDir, logger: silentLogger });
    expect((await run(['doctor', '--data-dir', dataDir])).stdout).to.match(/^ERROR +transparency log .*audit restart/m);
    expect(succeeded(await audit('restart'))).to.include('continues after position');
    expect(failed(await audit('restart'))).to.include('nothing to restart');
    const verified = succeeded(await audit(`verify --checkpoint ${place('head')}`));
    expect(verified).to.match(/\d+ events were lost before the log was restored from a backup/);
  });

  it('is exported again over an earlier export, and extends its checkpoint', async () => {
    const older = readFileSync(join(exported, 'checkpoint'), 'utf8');
    succeeded(await audit(`export ${exported}`));
    writeFileSync(place('older'), older);
    succeeded(await audit(`verify --offline ${exported} --key ${key} --checkpoint ${place('older')}`, place('away')));
    // An export has the newest of the incomplete tiles only.
    succeeded(await audit(`verify --offline ${exported} --key ${key} --checkpoint ${place('head')}`, place('away')));
    const proof = succeeded(await audit(`consistency ${sizeOf(older)}`));
    expect(proof).to.match(/^(?:[A-Za-z0-9+/]{43}=\n)+$/);
  });

  it('counts once its witnesses have cosigned it, if it has any', async () => {
    const witness = await startWitness('w.example/1');
    const witnessed = (setting: string, ...words: string[]) =>
      run(['audit', ...words, '--audit-witnesses', setting, '--data-dir', dataDir]);
    const head = succeeded(await witnessed(witness.setting, 'head'));
    expect(head.match(/^— (?:annals|w\.example\/1) /gm)).to.have.length(2);
    succeeded(await witnessed(witness.setting, 'export', exported));
    await witness.close();
    expect(succeeded(await witnessed(witness.setting, 'head'))).to.equal(head);
    const offline = `verify --offline ${exported} --key ${key} --key`;
    succeeded(await audit(`${offline} ${witness.key}`, place('away')));
    const stranger = await startWitness('w.example/2');
    expect(failed(await audit(`${offline} ${stranger.key}`, place('away')))).to.include('not cosigned by w.example/2');
    await stranger.close();
    const { code, stderr } = await witnessed('https://w.example', 'head');
    expect([code, stderr]).to.deep.equal([
      2,
      'annals: audit.witnesses must list addresses, each with the key of its witness (flag: --audit-witnesses)\n',
    ]);
  });

  it('goes on with a new key, which the old one vouches for', async () => {
    const next = succeeded(await audit('rotate')).split('\n')[0];
    const head = succeeded(await audit('head'));
    expect(head.match(/^— /gm)).to.have.length(2);
    expect(succeeded(await audit('key --all'))).to.equal(`${key}\n${next}\n`);
    expect(succeeded(await audit('key')).trim())
      .to.equal(next)
      .and.not.equal(key);
    succeeded(await audit(`verify --key ${key}`));
    succeeded(await audit(`verify --checkpoint ${place('head')}`));
  });

  it('refuses another key until the last one has signed, as the chain of keys would break', async () => {
    await stopEngines();
    server = await startServer(dataDir, SERVED);
    succeeded(await audit('rotate'));
    expect(failed(await audit('rotate'))).to.include('wait a minute');
  });

  it('accounts for the events of a burned room after a scavenge', async () => {
    const burned = await createRoom(server.urls.rooms ?? '', 'Eve');
    for (const text of ['one', 'two']) await burned.post(text);
    await burned.burn();
    const stream = `rooms.room-${burned.roomId}`;
    await eventually(async () => (await eventsIn(server, { stream })).some(({ type }) => type.includes('RoomErased')));
    expect(await server.stop()).to.equal(0);
    engines = await startEngines({ dataDir, logger: silentLogger });
    succeeded(await audit('head'));
    succeeded(await run(['scavenge', '--data-dir', dataDir]));
    expect(succeeded(await audit('verify'))).to.match(/\n2 events were of streams that are deleted\n/);
    await stopEngines();
  });

  it('is in a backup, as long as its log', async () => {
    server = await startServer(dataDir, SERVED);
    const made = place('backup');
    let isEnded = false;
    const work = (async () => {
      while (!isEnded) await createRoom(server.urls.rooms ?? '', 'Dan');
    })();
    succeeded(await run(['backup', made, '--data-dir', dataDir]));
    isEnded = true;
    await work;
    expect(await server.stop()).to.equal(0);
    succeeded(await audit('verify', made));
  });
});
