/** Checks the OpenAPI documents: malformed requests to every route get only documented answers. */
import { once } from 'node:events';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { Examined, JSON_BODY } from '../support/openapi-check.js';
import { envelope, newSigner } from '../support/room-fixtures.js';
import { type Server, startServer } from '../support/server-process.js';

const ADMIN = 'an-admin-token-for-tests';
const EMAIL = 'ada@example.com';
/** Rate limit for hits per network and minute: above what the checks send, even with half of them concurrent. */
const HITS = 600;

describe('OpenAPI documents', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  let open: Server;
  let closed: Server;
  const foreign = { host: 'evil.example' };

  before(async () => {
    const analytics = ['--analytics-admin-token', ADMIN, '--analytics-allowed-emails', EMAIL];
    analytics.push('--analytics-hits-per-minute', `${HITS}`);
    open = await startServer(directory.path, ['--rooms-create-per-hour', '40', ...analytics]);
    closed = await startServer(directory.path, ['logs'], {
      ANNALS_LOGS_API_TOKEN: 'a-token-of-the-api',
      ANNALS_LOGS_PRODUCERS: '[{"id":"web","token":"a-token-of-web"}]',
    });
  });
  after(async () => {
    await closed?.stop();
    await open?.stop();
    directory.remove();
  });

  it('cover every answer of rooms to malformed requests', async () => {
    const rooms = await Examined.at(open.urls.rooms);
    const { publicKey: signingPublicKey } = await newSigner();
    const create = (more = {}) => rooms.ask('POST', '/rooms', { body: { signingPublicKey }, ...more });
    const { roomId, sessionToken } = JSON.parse((await create()).text);
    const bearing = { authorization: `Bearer ${sessionToken}` };
    const inRoom =
      (room: string, token?: string) =>
      (method: string, path: string, body?: object | string, headers = {}) =>
        rooms.ask(method, `/rooms/{roomId}${path}`, {
          target: `/rooms/${room}${path}`,
          headers: { ...(token && { authorization: `Bearer ${token}` }), ...headers },
          ...(body === undefined ? {} : { body }),
        });
    const here = inRoom(roomId, sessionToken);

    await rooms.stall((path) => path.replace('{roomId}', roomId), bearing);
    await rooms.storm((path) => path.replace('{roomId}', 'x'), {});
    await rooms.storm((path) => path.replace('{roomId}', roomId), {});
    for (const [path, method, { requestBody }] of rooms.operations) {
      const target = path.replace('{roomId}', roomId);
      // A separate body for each mistake; with the right token requests reach the validation.
      if (requestBody)
        for (const body of ['{', '[]', Buffer.alloc(70_000, ' ')])
          await rooms.ask(method, path, { target, headers: bearing, body });
      if (requestBody)
        await rooms.ask(method, path, { target, headers: { ...bearing, 'content-type': 'x/y' }, body: '{}' });
      await rooms.ask(method, path, { target, headers: { ...bearing, 'if-position': 'x' } });
    }

    const token = (n: number) => `invite-token-${String(n).padStart(8, '0')}`;
    const keyed = { 'idempotency-key': 'k' };
    await here('POST', '/invites', { inviteToken: token(0) }, keyed);
    await here('POST', '/invites', { inviteToken: token(1) }, keyed);
    await here('POST', '/invites', { inviteToken: token(0) });
    const join = (n: number, headers = {}) =>
      here('POST', '/join', { inviteToken: token(n), signingPublicKey }, headers);
    await join(0, keyed);
    await join(1, keyed);
    await join(0);
    await join(99);
    for (let n = 1; n < 64; n++) await here('POST', '/invites', { inviteToken: token(n) });
    await here('POST', '/invites', { inviteToken: token(64) });
    for (let n = 1; n < 17; n++) await join(n);
    await here('POST', '/messages', envelope, keyed);
    await here('POST', '/messages', { ...envelope, messageIndex: 1 }, keyed);
    await here('POST', '/messages', envelope);
    for (let n = 2; n < 42; n++) await here('POST', '/messages', { ...envelope, messageIndex: n });
    await here('GET', '/state');
    await here('GET', '/events');
    await rooms.page();
    await rooms.ask('GET', '/health');
    await rooms.ask('GET', '/openapi.json');

    const created = { body: { signingPublicKey }, headers: keyed };
    const other = JSON.parse((await create(created)).text);
    await create({ ...created, body: { signingPublicKey, ttlMs: 70_000 } });
    const there = inRoom(other.roomId, other.sessionToken);
    await there('POST', '/burn', '{');
    expect((await there('GET', '/state')).status, 'a malformed burn burns nothing').to.equal(200);
    for (const [method, path] of [
      ['POST', '/burn'],
      ['DELETE', ''],
    ] as const) {
      const more = JSON.parse((await create()).text);
      const burning = inRoom(more.roomId, more.sessionToken);
      await burning(method, path, {}, keyed);
      await burning(method, path, { x: 1 }, keyed);
    }
    await there('POST', '/burn');
    await create(created);
    for (let n = 0; n < 40; n++) await create();
    expect(rooms.unseen()).to.deep.equal([]);
  });

  it('cover every answer of meeting to malformed requests', async () => {
    const url = open.urls.meeting ?? '';
    const meeting = await Examined.at(url);
    const create = (body: object, headers = {}) => meeting.ask('POST', '/api/rooms', { body, headers });
    const { roomId, creatorToken } = JSON.parse((await create({})).text);
    const target = (path: string) => path.replace('{roomId}', roomId).replace('{part}', 'nothing');
    await meeting.stall(target);
    await meeting.storm(target, {});
    const attendance = '/api/rooms/{roomId}/attendance';
    const bearing = { authorization: `Bearer ${creatorToken}` };
    await meeting.ask('GET', attendance, { target: target(attendance), headers: bearing });
    await meeting.ask('GET', attendance, {
      target: attendance.replace('{roomId}', 'NONE22'),
      headers: bearing,
    });
    const keyed = { 'idempotency-key': 'k' };
    await create({ title: 'one' }, keyed);
    await create({ title: 'other' }, keyed);
    await create({ roomId });
    for (let n = 0; n < 10; n++) await create({});
    for (const path of ['/', '/health', '/config', '/openapi.json']) await meeting.ask('GET', path);
    // The document describes the index that programs get; browsers get the page.
    const page = await (await fetch(`${url}/`, { headers: { accept: 'text/html' } })).text();
    const [part = ''] = /assets\/[^"']+/.exec(page) ?? [];
    await meeting.ask('GET', '/assets/{part}', { target: `/${part}` });

    const sockets = Array.from({ length: 10 }, () => new WebSocket(`${url.replace('http', 'ws')}/ws`));
    await Promise.all(sockets.map((each) => once(each, 'open')));
    meeting.seen.get('GET /ws')!.add(101);
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const key = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
    expect((await meeting.ask('GET', '/ws', { headers: { ...upgrade, ...key } })).status).to.equal(429);
    for (const each of sockets) each.terminate();
    expect(meeting.unseen()).to.deep.equal([]);
  });

  it('cover every answer of analytics to malformed requests', async () => {
    const url = open.urls.analytics ?? '';
    const analytics = await Examined.at(url, { authorization: `Bearer ${ADMIN}` });
    const target = (path: string) => path.replace('{id}', 'x').replace('{part}', 'nothing');
    await analytics.stall(target);
    await analytics.storm(target, foreign);

    const keyed = { 'idempotency-key': 'k' };
    const twice = async (method: string, at: string, bodies: readonly object[], to = at) => {
      for (const body of bodies) await analytics.ask(method, at, { target: to, headers: keyed, body });
    };
    const site = '/api/sites/{id}';
    const create = (id: string) => analytics.ask('POST', '/api/sites', { body: { id, domains: ['example.com'] } });
    await create('demo');
    await create('demo');
    await twice('POST', '/api/sites', [{ id: 'one' }, { id: 'two' }]);
    await twice('PUT', site, [{ name: 'One' }, { name: 'Two' }], '/api/sites/one');
    await twice('DELETE', site, [{}, { x: 1 }], '/api/sites/one');
    const hit = { site: 'demo', host: 'example.com' };
    for (const body of [hit, [hit, { site: 'nobodys' }], { ...hit, kind: 'event' }, { ...hit, kind: 'click' }])
      await analytics.ask('POST', '/api/collect', { body });
    await twice('POST', '/api/collect', [hit, { ...hit, path: '/other' }]);
    await twice('POST', '/api/cleanup', [{}, { x: 1 }]);
    for (const path of ['/', '/health', '/config.json', '/openapi.json', '/m.js', '/api/sites', '/api/auth/me'])
      await analytics.ask('GET', path);
    for (const id of ['demo', 'one', 'nobodys']) await analytics.askAt('/api/at', `site:${id}`);
    for (const path of ['/api/report', '/api/live', '/api/collect-attempts'])
      await analytics.ask('GET', path, { target: `${path}?site=demo` });
    const { headers: cached } = await analytics.ask('GET', '/m.js');
    await analytics.ask('GET', '/m.js', { headers: { 'if-none-match': String(cached.etag) } });
    for (const page of ['/', '/share', '/unsubscribe']) await analytics.page(page);

    const shareAt = `${site}/share`;
    const { text: shared } = await analytics.ask('POST', shareAt, { target: '/api/sites/demo/share' });
    const [, shareToken] = JSON.parse(shared).site.shareUrl.split('#');
    const readShared = (headers: { [name: string]: string }) => analytics.ask('GET', '/api/shared/report', { headers });
    for (const authorization of ['', `Bearer ${shareToken}`]) await readShared({ authorization });
    await analytics.ask('DELETE', shareAt, { target: '/api/sites/demo/share' });

    await twice('POST', '/api/auth/magic-link', [{ email: EMAIL }, { email: EMAIL, x: 1 }]);
    const link = () => /"link":"([^"]+)"/.exec(open.lines.join('\n'))?.[1] ?? '';
    await eventually(() => link() !== '');
    const token = new URL(link()).searchParams.get('token') ?? '';
    const verify = (body: object) => analytics.ask('POST', '/api/auth/verify', { body, headers: keyed });
    const [cookie = ''] = String((await verify({ token })).headers['set-cookie']).split(';');
    await verify({ token, email: EMAIL });
    await verify({ token: 'nothing' });
    const asVisitor = { authorization: '', cookie };
    const mailAt = `${site}/weekly-mail`;
    const fromPage = { ...asVisitor, 'sec-fetch-site': 'same-origin' };
    const body = { timeZone: 'Europe/Berlin' };
    for (const target of ['/api/sites/demo/weekly-mail', '/api/sites/nobodys/weekly-mail'])
      await analytics.ask('PUT', mailAt, { target, headers: fromPage, body });
    for (const method of ['GET', 'DELETE'])
      await analytics.ask(method, mailAt, { target: '/api/sites/demo/weekly-mail', headers: fromPage });
    for (const [path, method, { security }] of analytics.operations)
      if (security && method !== 'GET')
        await analytics.ask(method, path, { target: target(path), headers: asVisitor, body: {} });
    await analytics.ask('POST', '/api/auth/logout', { headers: asVisitor, body: {} });
    await analytics.ask('POST', '/api/auth/logout', { body: {} });
    const flood = { body: Array(100).fill(hit) };
    for (let sent = 0; sent <= HITS; sent += 100) await analytics.ask('POST', '/api/collect', flood);
    // A single request may arrive just when the rate limit admits the next.
    await Promise.all(Array.from({ length: 50 }, () => analytics.ask('POST', '/api/collect', { body: hit })));
    expect(analytics.unseen()).to.have.members([
      // After signing out, further requests are anonymous.
      'POST /api/auth/logout 422',
      // Sites are not erased.
      'GET /api/at 410',
      // Expiry of days and hits takes days, so 410 cannot be provoked.
      'POST /api/cleanup 422',
      'POST /api/collect 410',
      // This server sends no mail; see the tests of weekly mails.
      'POST /unsubscribe 200',
      'PUT /api/sites/{id}/weekly-mail 200',
      'PUT /api/sites/{id}/weekly-mail 422',
    ]);
  });

  it('cover every answer of logs to malformed requests', async () => {
    const doors = [
      [open.urls.logs, {}, foreign, 10],
      [
        closed.urls.logs,
        { authorization: 'Bearer a-token-of-the-api' },
        { authorization: 'Bearer a-token-of-web' },
        20,
      ],
    ] as const;
    // In parallel, as stalled requests take long.
    const examining = doors.map(async ([url, credentials]) => {
      const logs = await Examined.at(url, credentials);
      await logs.stall((path) => path);
      return logs;
    });
    const examined = await Promise.all(examining);
    for (const [index, logs] of examined.entries()) {
      const [, credentials, evil, windowMinutes] = doors[index]!;
      const alive = { ...JSON_BODY, ...credentials };
      await logs.storm((path) => path, evil);
      for (const [path, method, operation] of logs.operations) {
        if (method === 'GET') await logs.ask(method, path, { headers: alive });
        if (method === 'GET' || !operation.requestBody) continue;
        const headers = { 'idempotency-key': `${method} ${path}` };
        for (const body of [{ windowMinutes }, { windowMinutes: windowMinutes + 1 }])
          await logs.ask(method, path, { headers, body });
      }
      await logs.page();
      await logs.askAt('/api/at', 'policy');
      await logs.askAt('/api/at', 'policy', '2020-01-01T00:00:00Z');
      await logs.ask('GET', '/api/logs/aggregate', { target: '/api/logs/aggregate?groupBy=level' });
      // Accepts every post.
      const webhookUrl = `${open.urls.logs}/api/ingest`;
      await logs.ask('POST', '/api/alerts/test-webhook', { body: { webhookUrl: 'http://169.254.169.254/' } });
      await eventually(async () => !(await logs.ask('GET', '/api/reindex')).text.includes('"running"'));
      const several = Array.from({ length: 3 }, () => logs.ask('POST', '/api/reindex'));
      await Promise.all(several);
      await logs.ask('POST', '/api/reindex', { target: '/api/reindex?async=true' });
      await logs.ask('POST', '/api/alerts/test-webhook', { body: { webhookUrl } });
      // Expiry of records takes days, so 410 cannot be provoked; the policy is not erased.
      expect(logs.unseen()).to.have.members(['POST /api/ingest 410', 'GET /api/at 410']);
    }
  });

  it('give example bodies for logs that are accepted and change nothing else', async () => {
    const logs = await Examined.at(open.urls.logs);
    const before = JSON.parse((await logs.ask('GET', '/api/alerts/config')).text).policy;
    for (const [path, method, { requestBody }] of logs.operations)
      for (const [type, { schema, example }] of Object.entries(requestBody?.content ?? {})) {
        if (schema.properties && Object.keys(schema.properties).length === 0) continue;
        expect(example, `${method} ${path} ${type}`).not.equal(undefined);
        // Would call an external webhook.
        if (path === '/api/alerts/test-webhook') continue;
        // Quoted as text, as the interactive reference sends any type with JSON in its name.
        const isText = typeof example === 'string' && !type.includes('json');
        const body = isText ? example : JSON.stringify(example);
        const { status, text } = await logs.ask(method, path, { headers: { 'content-type': type }, body });
        expect(status, `${method} ${path} ${type} ${text}`).equal(200);
        if (path === '/api/ingest') expect(JSON.parse(text)).to.include({ rejected: 0 });
      }
    const { policy } = JSON.parse((await logs.ask('GET', '/api/alerts/config')).text);
    const { enabled, webhookUrl, errorThreshold } = policy;
    expect(policy).to.deep.equal({ ...before, enabled, webhookUrl, errorThreshold });
    await logs.ask('PUT', '/api/alerts/config', { body: { webhookUrl: null } });
  });
});
