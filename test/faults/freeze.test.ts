/** A frozen (SIGSTOP) and thawed store: every request is answered meanwhile, and service resumes by itself. */
import { randomBytes } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createRoom, type RoomClient } from '../support/room-client.js';
import { type Server, startServer } from '../support/server-process.js';

/** Deadlines of the contract: for requests, and for health and metrics. */
const ANSWER_MS = 10_000;
const HEALTH_MS = 2000;

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly consistency: string | null;
  readonly text: string;
}

describe('a frozen store', function () {
  this.timeout(90_000);
  const directory = temporaryDirectory();
  let server: Server;
  let room: RoomClient;
  let frozen: number | undefined;

  before(async () => {
    server = await startServer(directory.path, ['rooms', 'logs']);
    room = await createRoom(base('rooms'), 'Ada');
    await room.post('before');
    expect((await ingest('before')).status).to.equal(200);
  });
  afterEach(() => thaw());
  after(async () => {
    await server?.stop('SIGKILL');
    directory.remove();
  });

  const base = (service: string) => server.urls[service] ?? '';
  const freeze = (engine: string) => {
    frozen = server.pids[engine];
    process.kill(frozen!, 'SIGSTOP');
  };
  const thaw = () => {
    if (frozen !== undefined) process.kill(frozen, 'SIGCONT');
    frozen = undefined;
  };

  async function ask(url: string, options: RequestInit = {}, withinMs = ANSWER_MS): Promise<Answer> {
    const answer = await fetch(url, { ...options, signal: AbortSignal.timeout(withinMs) });
    const { status, headers } = answer;
    const text = headers.get('content-type')?.includes('event-stream') ? '' : await answer.text();
    if (text === '') await answer.body?.cancel();
    const [retryAfter, consistency] = [headers.get('retry-after'), headers.get('consistency')];
    return { status, retryAfter, consistency, text };
  }

  const signed = { authorization: '', 'content-type': 'application/json' };
  const inRoom = (method: string, path: string, body?: object) =>
    ask(`${base('rooms')}/rooms/${room.roomId}${path}`, {
      method,
      headers: { ...signed, authorization: `Bearer ${room.sessionToken}` },
      ...(body && { body: JSON.stringify(body) }),
    });
  const create = () => {
    const { signingPublicKey } = room.participants[0]!;
    const body = JSON.stringify({ participantName: 'Bob', signingPublicKey, ttlMs: 3_600_000 });
    return ask(`${base('rooms')}/rooms`, { method: 'POST', headers: signed, body });
  };
  const ingest = (message: string) =>
    ask(`${base('logs')}/api/ingest`, { method: 'POST', body: JSON.stringify({ message }) });
  const logs = (path: string, method = 'GET') => ask(`${base('logs')}/api/${path}`, { method });
  const rebuild = async (path: string) => refused(await logs(path, 'POST'), path);
  const stranger = () => ask(`${base('rooms')}/rooms/${randomBytes(16).toString('base64url')}/state`);

  const refused = ({ status, retryAfter, text }: Answer, what: string) => {
    expect(status, `${what}: ${text}`).to.equal(503);
    expect(Number(retryAfter), `${what}: Retry-After`).to.be.at.least(1);
    expect(JSON.parse(text).error, `${what}: error`).to.be.a('string');
  };
  /** Answered from memory or refused; never a 500, never a false 404. */
  const answered = (answer: Answer, what: string) => (answer.status === 200 ? undefined : refused(answer, what));

  async function healthTells() {
    refused(await ask(`${base('operations')}/health/ready`, {}, HEALTH_MS), 'readiness');
    expect((await ask(`${base('operations')}/health/live`, {}, HEALTH_MS)).status).to.equal(200);
    const metrics = await ask(`${base('operations')}/metrics`, {}, HEALTH_MS);
    expect(metrics.status).to.equal(200);
    expect(metrics.text).to.include('process_cpu_seconds_total');
    refused(await ask(`${base('logs')}/health`, {}, HEALTH_MS), 'the health of the logs');
    expect((await ask(`${base('rooms')}/health`, {}, HEALTH_MS)).status).to.equal(200);
  }

  async function everythingIsBack() {
    const sent = await eventually(
      async () => (await inRoom('POST', '/messages', await room.seal('after'))).status === 201,
    );
    expect(sent).to.equal(true);
    await eventually(async () => {
      const { status, consistency, text } = await inRoom('GET', '/state');
      return status === 200 && consistency === null && JSON.parse(text).messages.length >= 2;
    });
    await eventually(async () => (await create()).status === 201);
    const message = randomBytes(8).toString('hex');
    await eventually(async () => (await ingest(message)).status === 200);
    await eventually(async () => (await logs(`logs?q=${message}`)).text.includes(message));
    await eventually(async () => (await logs('logs/aggregate?groupBy=level')).status === 200);
    await eventually(async () => (await ask(`${base('operations')}/health/ready`)).status === 200);
    await eventually(async () => (await logs('reindex', 'POST')).status === 200);
  }

  it('answers the first query for records within the deadline', async () => {
    freeze('mongo');
    refused(await logs('logs'), 'query');
    thaw();
    await eventually(async () => (await logs('logs')).status === 200);
  });

  it('answers within the deadlines when it is the event store, and resumes when it thaws', async () => {
    const envelope = await room.seal('meanwhile');
    freeze('eventstore');
    const health = healthTells();
    const writing = [
      create().then((answer) => refused(answer, 'create')),
      inRoom('POST', '/messages', envelope).then((answer) => refused(answer, 'post')),
      inRoom('POST', '/invites', { inviteToken: randomBytes(24).toString('base64url') }).then((answer) =>
        refused(answer, 'invite'),
      ),
      inRoom('POST', '/burn').then((answer) => refused(answer, 'burn')),
      ingest('meanwhile').then((answer) => refused(answer, 'ingest')),
      stranger().then((answer) => refused(answer, 'a room that only the log knows')),
      rebuild('reindex'),
      rebuild('reindex?async=true'),
      logs('alerts/config').then((answer) => refused(answer, 'alert policy')),
    ];
    const reading = [
      inRoom('GET', '/state').then((answer) => answered(answer, 'state')),
      inRoom('GET', '/events').then((answer) => answered(answer, 'events')),
      logs('logs').then((answer) => answered(answer, 'query')),
      logs('logs/aggregate?groupBy=event').then((answer) => answered(answer, 'aggregate')),
      logs('logs/tail').then((answer) => answered(answer, 'tail')),
    ];
    await Promise.all([health, ...writing, ...reading]);
    thaw();
    await everythingIsBack();
  });

  it('makes read models lag, as reported in metrics', async () => {
    await eventually(async () => (await ingest('known')).status === 200);
    const isBehind = async () =>
      /^annals_projection_lag\{projection="logs\.records"\} [1-9]/m.test(
        (await ask(`${base('operations')}/metrics`)).text,
      );
    await eventually(async () => !(await isBehind()));
    freeze('mongo');
    expect((await ingest('to follow')).status).to.equal(200);
    await eventually(isBehind);
    thaw();
    await eventually(async () => !(await isBehind()));
  });

  it('answers within the deadlines when it is MongoDB, and resumes when it thaws', async () => {
    room = await createRoom(base('rooms'), 'Ada');
    await room.post('before');
    freeze('mongo');
    const health = healthTells();
    const writing = [
      create().then((answer) => refused(answer, 'create')),
      inRoom('GET', '/state').then((answer) => refused(answer, 'state')),
      logs('logs?q=neverasked').then((answer) => refused(answer, 'query')),
      logs('logs/aggregate?groupBy=event').then((answer) => refused(answer, 'aggregate')),
      // Only one, as others would be refused while it runs.
      rebuild('reindex?async=true'),
      logs('alerts/history').then((answer) => refused(answer, 'alert history')),
    ];
    const others = [
      inRoom('GET', '/events').then((answer) => answered(answer, 'events')),
      logs('logs/tail').then((answer) => answered(answer, 'tail')),
      // Its key is cached and the log available: accepted, with rows to follow.
      ingest('meanwhile').then((answer) => answered(answer, 'ingest')),
    ];
    await Promise.all([health, ...writing, ...others]);
    thaw();
    await everythingIsBack();
  });
});
