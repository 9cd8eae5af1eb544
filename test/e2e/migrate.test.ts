/** `annals migrate`: an installation of all services moves from its engines to servers, killed on the way. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startEngines } from '@annals/engines/internal/supervisor/supervisor.js';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, silentLogger, startServers, temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { pdf, read, uploaded } from '../support/chat-scenario.js';
import { ask, devLogin, EventStream, type Member } from '../support/http-spec.js';
import { logClient } from '../support/log-client.js';
import { enterRoom } from '../support/meeting-client.js';
import { call, createRoom, type RoomClient, settledState } from '../support/room-client.js';
import { type Ended, run, type Server, start, startServer } from '../support/server-process.js';
import { answer, type Receiver, startReceiver } from '../support/webhook-receiver.js';

const TOKEN = 'token-of-the-analytics-admin';
const FLAGS = [
  ...['--auth-is-invite-required', 'false', '--analytics-admin-token', TOKEN, '--rooms-create-per-hour', '100000'],
  ...['--server-trusted-proxies', '127.0.0.1'],
];
/** Enough that a kill finds the copy under way. */
const BATCHES = 1500;

/** Tombstones of the source have no position in the target. */
const withoutTombstones = (ndjson: string) =>
  ndjson
    .split('\n')
    .filter((line) => !line.includes('$streamDeleted'))
    .join('\n');

describe('annals migrate', function () {
  this.timeout(300_000);
  const [directory, home] = [temporaryDirectory(), temporaryDirectory()];
  let target: Servers;
  let receiver: Receiver;
  let server: Server;
  let admin: Member;
  let room: RoomClient;
  const message = { channel: '', deleted: '', edited: '', file: '', time: '', cursor: '' };
  /** Deliveries of the alert before the migration. */
  let attempts = 0;
  const fileBytes = pdf(300_000);
  /** What the clients were answered, and the log, before the migration. */
  let answered: Awaited<ReturnType<typeof answers>>;
  let history: string;

  const succeeded = ({ code, stdout, stderr }: Ended) => {
    expect([code, stderr], stdout).to.deep.equal([0, '']);
    return stdout;
  };
  const failed = ({ code, stdout, stderr }: Ended) => {
    expect(code, stdout).to.equal(1);
    return stderr;
  };
  const migration = ({ eventStoreUrl, mongoUrl }: Omit<Servers, 'stop'> = target) => [
    ...['migrate', '--data-dir', directory.path],
    ...['--to-event-store', eventStoreUrl, '--to-mongo', mongoUrl],
  ];
  const onSource = (words: string) => run([...words.split(' '), '--data-dir', directory.path]);
  const targetFlags = () => ['--event-store-url', target.eventStoreUrl, '--mongo-url', target.mongoUrl];
  const secret = () => ({ ANNALS_SECRET: readFileSync(join(directory.path, 'secret'), 'utf8').trim() });
  const onTarget = (words: string) =>
    run([...words.split(' '), '--data-dir', home.path, ...targetFlags()], '', { env: secret() });
  const as = async (method: string, path: string, body?: object) => {
    const done = await ask(server.urls.chat!, method, path, { token: admin.token, body });
    expect(done.status, `${method} ${path}`).to.equal(200);
    return done.body;
  };
  const post = async (content: object): Promise<string> =>
    (await as('POST', `/channels/${message.channel}/messages`, content)).message.id;
  const stream = (cursor?: string) =>
    EventStream.to(server.urls.chat!, {
      token: admin.token,
      ...(cursor ? { headers: { 'last-event-id': cursor } } : {}),
    });

  /** What clients see, once the read models are complete. */
  async function answers() {
    const settled = async (path: string) => {
      for (;;) {
        const { body, headers } = await ask(server.urls.chat!, 'GET', path, { token: admin.token });
        if (headers.get('consistency') !== 'pending') return body;
      }
    };
    const analytics = async () => {
      for (;;) {
        const { body, headers } = await ask(server.urls.analytics!, 'GET', '/api/report?site=demo&days=1', {
          token: TOKEN,
        });
        if (headers.get('consistency') !== 'pending') return body.totals ?? body;
      }
    };
    const records = await eventually(async () => {
      const all = await logClient(server.urls.logs!).all('q=batch');
      return all.length === BATCHES && all;
    });
    return {
      messages: await settled(`/channels/${message.channel}/messages?limit=20`),
      beforeDeleted: await settled(`/channels/${message.channel}/messages?limit=20&before=${message.deleted}`),
      audit: await settled('/admin/audit-log'),
      room: (await settledState(server, room)).body.messages,
      records,
      report: await analytics(),
    };
  }

  async function work() {
    admin = await devLogin(server.urls.chat!, 'admin@localhost');
    message.channel = (await as('POST', '/channels', { name: 'plans' })).channel.id;
    for (let n = 0; n < 30; n++) await post({ content: `message ${n}` });
    message.edited = await post({ content: 'first' });
    await delay(20);
    message.time = new Date().toISOString();
    await delay(20);
    await as('PUT', `/messages/${message.edited}`, { content: 'second' });
    message.deleted = await post({ content: 'to be deleted' });
    const world = {
      base: server.urls.chat!,
      as: (who: Member | undefined, method: string, path: string, body?: unknown, more: object = {}) =>
        ask(server.urls.chat!, method, path, { token: who?.token, body, ...more }),
    };
    const attachment = await uploaded(world, admin, 'plan.pdf', fileBytes);
    message.file = attachment.filename;
    await post({ content: 'with a file', attachments: [attachment] });
    await as('DELETE', `/messages/${message.deleted}`);
    for (const status of ['away', 'online', 'away', 'online']) await as('PUT', '/presence/me', { status });
    room = await createRoom(server.urls.rooms!, 'Ada');
    for (let n = 0; n < 20; n++) await room.post(`${n}`);
    const burned = await createRoom(server.urls.rooms!, 'Bob');
    await burned.post('gone');
    await burned.burn();
    const person = await enterRoom(server.urls.meeting!, 'MOVE01', 'Ada', { isHost: true }, '203.0.113.1');
    for (let n = 0; n < 5; n++) person.send('chat', { text: `${n}` });
    await person.answered();
    person.socket.close();
    const site = { id: 'demo', domains: ['example.com'], ingestToken: 'the-ingest-token-of-the-demo' };
    expect((await ask(server.urls.analytics!, 'POST', '/api/sites', { token: TOKEN, body: site })).status).to.equal(
      201,
    );
    const hits = Array.from({ length: 10 }, (_, n) => ({ site: 'demo', host: 'example.com', path: `/${n}` }));
    const headers = { 'user-agent': 'Firefox/130.0', 'x-analytics-token': site.ingestToken };
    expect((await ask(server.urls.analytics!, 'POST', '/api/collect', { body: hits, headers })).status).to.equal(202);
    const logs = logClient(server.urls.logs!);
    const policy = { enabled: true, webhookUrl: receiver.url, intervalMs: 1000, webhookTimeoutMs: 60_000 };
    await fetch(`${server.urls.logs}/api/alerts/config`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(policy),
    });
    for (let n = 0; n < 25; n++) await logs.ingest([{ level: 'error', message: `declined ${n}` }]);
    await receiver.waitForRequests(1);
    const lane = async (each: number) => {
      for (let n = each; n < BATCHES; n += 20) await logs.ingest([{ message: `batch ${n}` }]);
    };
    await Promise.all(Array.from({ length: 20 }, (_, each) => lane(each)));
    const summary = await stream();
    await post({ content: 'the last one that the stream gets' });
    await summary.received(1, 'NEW_MESSAGE');
    message.cursor = summary.ids.at(-1)!;
    summary.close();
    await post({ content: 'missed' });
  }

  before(async () => {
    [target, receiver] = [await startServers(), await startReceiver()];
    // The alert is still being delivered when the server stops.
    receiver.respond = () => {};
    server = await startServer(directory.path, FLAGS);
    await work();
    answered = await answers();
  });
  after(async () => {
    await server?.stop('SIGKILL');
    await target?.stop();
    await receiver?.close();
    directory.remove();
    home.remove();
  });

  it('refuses a data directory in use, and servers that hold something else', async () => {
    expect(failed(await run(migration()))).to.match(/is in use.*; stop it first\n$/);
    expect(await server.stop()).to.equal(0);
    const { code, stderr } = await run(['migrate', '--data-dir', directory.path]);
    expect([code, stderr.includes('--to-event-store is required')]).to.deep.equal([2, true]);
    const other = await startServers();
    const home = temporaryDirectory();
    const flags = ['rooms', '--event-store-url', other.eventStoreUrl, '--mongo-url', other.mongoUrl];
    await (await startServer(home.path, flags)).stop();
    home.remove();
    expect(failed(await run(migration({ ...target, eventStoreUrl: other.eventStoreUrl })))).to.include(
      'the EventStoreDB is not empty',
    );
    expect(failed(await run(migration({ ...target, mongoUrl: other.mongoUrl })))).to.include(
      'the MongoDB is not empty',
    );
    await other.stop();
  });

  it('is complete after kills at any moment, with fillers for what was scavenged', async () => {
    const engines = await startEngines({ dataDir: directory.path, logger: silentLogger });
    succeeded(await onSource('audit verify'));
    succeeded(await onSource('scavenge'));
    history = succeeded(await onSource('replay --format ndjson'));
    await engines.stop();
    for (const [printed, ms] of [
      ['files', 300],
      ['files', 800],
      ['equal', 0],
    ] as const) {
      const killed = start(migration());
      await killed.printed(new RegExp(printed));
      await delay(ms);
      killed.process.kill('SIGKILL');
      const { stdout } = await killed.ended;
      expect(stdout, stdout).not.to.include('is complete');
    }
    expect(failed(await onTarget('replay'))).to.include('the migration to this event store is not complete');
    const stdout = succeeded(await run(migration()));
    expect(stdout).to.match(/log: all [\d,]+ events in [\d,]+ streams are equal and in the same order/);
    expect(stdout).to.match(/transparency log: all [\d,]+ entries agree/);
    expect(stdout).to.include(`the text in ${join(directory.path, 'secret')}`);
  });

  it('does nothing when it is run again', async () => {
    const env = { MIGRATE_TO_EVENT_STORE: target.eventStoreUrl, MIGRATE_TO_MONGO: target.mongoUrl };
    const again = await run(['migrate', '--data-dir', directory.path], '', { env });
    expect(succeeded(again)).to.include('these servers have everything already');
    const other = await startServers();
    const elsewhere = await run(migration({ ...target, mongoUrl: other.mongoUrl }));
    expect(failed(elsewhere)).to.include('complete, but to another MongoDB');
    await other.stop();
  });

  it('serves the same from the servers: history, positions, times, pages, files', async () => {
    expect(withoutTombstones(succeeded(await onTarget('replay --format ndjson')))).to.equal(withoutTombstones(history));
    expect(succeeded(await onTarget('audit verify'))).to.match(/every entry agrees\n[\d,]+ events of the log agree\n/);
    receiver.respond = answer(200);
    attempts = receiver.received.length;
    server = await startServer(home.path, [...FLAGS, ...targetFlags()], secret());
    expect(await answers()).to.deep.equal(answered);
    const found = await read({ base: server.urls.chat! }, admin, `/files/${message.file}`);
    expect([found.status, found.bytes.equals(fileBytes)]).to.deep.equal([200, true]);
    const { stdout } = await onTarget(`at ${message.time} message:${message.edited}`);
    expect(JSON.parse(stdout).state).to.include({ content: 'first', edits: 0 });
  });

  it('continues streams of clients and process managers, without a loss or a repetition', async () => {
    const resumed = await stream(message.cursor);
    await post({ content: 'after the migration' });
    const frames = await resumed.received(2, 'NEW_MESSAGE', 'RESET');
    expect(frames.map(({ type, payload }) => [type, payload.content])).to.deep.equal([
      ['NEW_MESSAGE', 'missed'],
      ['NEW_MESSAGE', 'after the migration'],
    ]);
    resumed.close();
    await receiver.waitForRequests(attempts + 1);
    expect(new Set(receiver.received.map((each) => each.headers['x-annals-delivery'])).size).to.equal(1);
    const { roomId, sessionToken: token } = room;
    const posting = { body: await room.seal('after'), token };
    expect((await call(server.urls.rooms!, 'POST', `/rooms/${roomId}/messages`, posting)).status).to.equal(201);
  });

  it('has read models equal to their rebuild, and a transparency log that goes on', async () => {
    const checked = await onTarget('reindex --check');
    expect(checked.code, checked.stdout + checked.stderr).to.equal(0);
    expect(await server.stop()).to.equal(0);
    expect(succeeded(await onTarget('audit verify'))).to.match(/every entry agrees\n[\d,]+ events of the log agree\n/);
  });
});
