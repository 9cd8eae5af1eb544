/** Other users of the machine get nothing from the data directory or the engines' ports. */
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { frame } from '@annals/engines/internal/eventstore/wire/framing.js';
import { field, message, numberField } from '@annals/engines/internal/eventstore/wire/protobuf.js';
import { findRuntime } from '@annals/engines/internal/supervisor/runtime-file.js';
import { type Engines, startEngines } from '@annals/engines/internal/supervisor/supervisor.js';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import { opMsg } from '@annals/engines/testing/raw-client.js';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { expect } from 'chai';
import { BSON, MongoClient } from 'mongodb';
import { createLogger } from '../../adapters/platform/observability/logger.js';
import type { Logger } from '../../application/ports/index.js';

/** Runs as another user where possible, else as the current one, who then only knows the ports. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};

/** What any process can try without this project: read the files and connect to both ports. */
const STRANGER = `
const [directory, mongoPort, storePort, command, read] = process.argv.slice(1);
const fs = require('node:fs');
const tried = {};
for (const name of ['runtime.json', 'mongo/data.mdb', 'eventstore/log/data.mdb', 'lock', '.'])
  try { tried[name] = name === '.' ? fs.readdirSync(directory) : fs.openSync(directory + '/' + name); }
  catch (error) { tried[name] = error.code; }
const socket = require('node:net').connect(mongoPort, '127.0.0.1');
socket.end(Buffer.from(command, 'base64'));
let answer = Buffer.alloc(0);
socket.on('data', (chunk) => { answer = Buffer.concat([answer, chunk]); });
const session = require('node:http2').connect('http://127.0.0.1:' + storePort);
const call = session.request({ ':method': 'POST', ':path': '/event_store.client.streams.Streams/Read',
  'content-type': 'application/grpc', te: 'trailers', 'connection-name': 'guess' });
let status;
let bytes = 0;
for (const event of ['response', 'trailers']) call.on(event, (headers) => { status = headers['grpc-status'] || status; });
call.on('data', (chunk) => { bytes += chunk.length; });
call.end(Buffer.from(read, 'base64'));
call.on('close', () => session.destroy());
process.on('exit', () => console.log(JSON.stringify({ tried, status, bytes, answer: answer.toString('base64') })));
`;

const READ_ALL = frame([
  field(
    1,
    message(
      field(2, field(2, Buffer.alloc(0))),
      numberField(4, 10),
      field(8, Buffer.alloc(0)),
      field(9, field(2, Buffer.alloc(0))),
    ),
  ),
]);

describe('for other users of the machine', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  const pids = new Map<string, number>();
  const lines: object[] = [];
  const note = (fields: object, text: string) => {
    lines.push({ ...fields, text });
    if ('engine' in fields && 'pid' in fields) pids.set(String(fields.engine), Number(fields.pid));
  };
  const silent = createLogger({ level: 'silent', format: 'json' });
  const logger: Logger = { debug: note, info: note, warn: note, error: note };
  const umask = process.umask(0);
  let engines: Engines;
  let asMade: Found[] = [];
  before(async () => {
    const first = await startEngines({ dataDir: directory.path, logger });
    asMade = [...walk(directory.path)];
    await first.stop();
    // Permissions of an existing data directory, and after a crash.
    writeFileSync(join(directory.path, 'runtime.json.new'), '');
    for (const { path, isDirectory } of walk(directory.path)) chmodSync(path, isDirectory ? 0o755 : 0o644);
    engines = await startEngines({ dataDir: directory.path, logger });
    const client = await MongoClient.connect(engines.mongoUrl);
    await client.db('private').collection('things').insertOne({ name: 'thing' });
    await client.close();
  });
  after(async () => {
    await engines.stop();
    directory.remove();
    process.umask(umask);
  });

  const port = (url: string) => /127\.0\.0\.1:(\d+)/.exec(url)?.[1] ?? '';
  const bare = {
    get mongo() {
      return `mongodb://127.0.0.1:${port(engines.mongoUrl)}/?replicaSet=annals`;
    },
    get store() {
      return `esdb://127.0.0.1:${port(engines.eventStoreUrl)}?tls=false`;
    },
  };

  it('the data directory is closed, whatever the umask and its earlier permissions', () => {
    const found = [...walk(directory.path)];
    expect(found.map(({ path }) => path.slice(directory.path.length))).to.include.members([
      '',
      '/lock',
      '/runtime.json',
      '/mongo/data.mdb',
      '/eventstore/log/data.mdb',
    ]);
    for (const { path, isDirectory, mode } of [...asMade, ...found])
      expect(mode.toString(8), path).to.equal(isDirectory ? '700' : '600');
  });

  it('engines and their files reveal nothing', async () => {
    const args = [
      directory.path,
      port(engines.mongoUrl),
      port(engines.eventStoreUrl),
      opMsg({ listCollections: 1, $db: 'admin' }).toString('base64'),
      READ_ALL.toString('base64'),
    ];
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', STRANGER, ...args], {
      ...NOBODY,
      cwd: '/',
    });
    const { tried, status, bytes, answer } = JSON.parse(stdout);
    const { code, cursor } = BSON.deserialize(Buffer.from(answer, 'base64').subarray(21));
    expect({ code, cursor }).to.deep.equal({ code: 13, cursor: undefined });
    expect({ status, bytes }).to.deep.equal({ status: '7', bytes: 0 });
    if (NOBODY.uid) for (const name of Object.keys(tried)) expect(tried[name], name).to.equal('EACCES');
  });

  it('drivers get nothing without the secret of this start, and full access with it', async () => {
    const wrong = engines.mongoUrl.replace(/:\/\/(\w+):[^@]*@/, '://$1:guess@');
    for (const [url, code] of [
      [bare.mongo, 13],
      [wrong, 18],
    ] as const) {
      const client = new MongoClient(url);
      const things = client.db('private').collection<{ _id: number }>('things');
      expect(await rejection(things.findOne())).to.have.property('code', code);
      expect(await rejection(things.insertOne({ _id: 1 }))).to.have.property('code', code);
      await client.close();
    }
    for (const url of [bare.store, `${bare.store}&connectionName=guess`]) {
      const client = EventStoreDBClient.connectionString(url);
      const append = client.appendToStream('private-1', jsonEvent({ type: 'Guessed', data: {} }));
      expect(await rejection(append)).to.have.property('type', 'access-denied');
      expect(await rejection(client.tombstoneStream('private-1'))).to.have.property('type', 'access-denied');
      await client.dispose();
    }
    const client = await MongoClient.connect(engines.mongoUrl);
    expect(await client.db('private').collection('things').countDocuments()).to.equal(1);
    await client.close();
    const store = EventStoreDBClient.connectionString(engines.eventStoreUrl);
    const { success } = await store.appendToStream('private-1', jsonEvent({ type: 'Known', data: {} }));
    expect(success).to.equal(true);
    await store.dispose();
  });

  it('a restarted engine requires the same secret', async () => {
    const killed = pids.get('mongo') ?? 0;
    process.kill(killed, 'SIGKILL');
    await eventually(() => pids.get('mongo') !== killed);
    const client = await MongoClient.connect(engines.mongoUrl);
    expect(await client.db('private').collection('things').countDocuments()).to.equal(1);
    await client.close();
    const stranger = new MongoClient(bare.mongo);
    expect(await rejection(stranger.db('private').collection('things').findOne())).to.have.property('code', 13);
    await stranger.close();
  });

  it('existing files of the directory keep their permissions', async () => {
    const other = temporaryDirectory();
    const tool = join(other.path, 'node', 'bin', 'tool');
    mkdirSync(join(tool, '..'), { recursive: true });
    writeFileSync(tool, '');
    chmodSync(tool, 0o755);
    const running = await startEngines({ dataDir: other.path, logger: silent });
    await running.stop();
    expect(lstatSync(tool).mode & 0o777).to.equal(0o755);
    other.remove();
  });

  it('a world-writable directory is refused', async () => {
    const shared = temporaryDirectory();
    chmodSync(shared.path, 0o1777);
    expect(await rejection(startEngines({ dataDir: shared.path, logger }))).to.match(/belongs to all users/);
    expect(readdirSync(shared.path)).to.deep.equal([]);
    shared.remove();
  });

  it('the secret is in runtime.json, and neither in the log nor on a command line', () => {
    expect(findRuntime(directory.path)).to.include({
      mongoUrl: engines.mongoUrl,
      eventStoreUrl: engines.eventStoreUrl,
    });
    const secret = new URL(engines.mongoUrl).password;
    expect(secret).to.have.length.greaterThan(30);
    expect(engines.eventStoreUrl).to.contain(secret);
    expect(JSON.stringify(lines)).not.to.contain(secret);
    expect([...pids.keys()]).to.have.members(['eventstore', 'mongo']);
    for (const pid of pids.values()) expect(commandLine(pid)).to.contain('child-main.js').and.not.to.contain(secret);
  });
});

const commandLine = (pid: number) =>
  existsSync('/proc/self/cmdline')
    ? readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    : execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' });

interface Found {
  readonly path: string;
  readonly isDirectory: boolean;
  readonly mode: number;
}

function* walk(path: string): Generator<Found> {
  const stats = lstatSync(path);
  yield { path, isDirectory: stats.isDirectory(), mode: stats.mode & 0o777 };
  if (stats.isDirectory()) for (const name of readdirSync(path)) yield* walk(join(path, name));
}
