/** The documents keep their word: what hostile hands get from every route is what its document says, no more, no less. */

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { expect } from 'chai';
import { temporaryDirectory } from '../support/engines.js';
import { type RawAnswer, send } from '../support/raw.js';
import { newSigner } from '../support/room-crypto.js';
import { envelope } from '../support/rooms.js';
import { type Server, startServer } from '../support/server.js';

interface Documented {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
}

interface Operation {
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: { readonly [type: string]: Sample } };
  readonly security?: readonly object[];
  readonly responses: { readonly [status: string]: ResponseDoc | { readonly $ref: string } };
}

interface Sample {
  readonly schema: { readonly properties?: object };
  readonly example?: unknown;
}

interface ResponseDoc {
  readonly headers?: { readonly [name: string]: unknown };
  readonly content?: { readonly [type: string]: { readonly schema: object } };
}

type Headers = { readonly [name: string]: string };

const JSON_BODY = { 'content-type': 'application/json' };
const EIGHT_MIB = 8 * 1024 * 1024;

/** A service, its document, and what was seen of each of its operations. */
class Examined {
  readonly seen = new Map<string, Set<number>>();
  private readonly ajv = formats.default(new Ajv2020({ strict: false }));

  private constructor(
    readonly url: string,
    readonly document: Documented,
    readonly credentials: Headers,
  ) {
    this.ajv.addSchema({ ...document, $id: 'document' });
  }

  static async at(url = '', credentials: Headers = {}): Promise<Examined> {
    const { text } = await send(url, { method: 'GET', path: '/openapi.json', headers: credentials });
    return new Examined(url, JSON.parse(text), credentials);
  }

  get operations(): readonly (readonly [path: string, method: string, operation: Operation])[] {
    return Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [path, method.toUpperCase(), operation] as const),
    );
  }

  /** Asks, and holds the answer against the document; `at` is the documented path, `target` the one asked for. */
  async ask(
    method: string,
    at: string,
    {
      target = at,
      headers = {},
      body,
    }: { target?: string; headers?: Headers; body?: string | Buffer | object } = {},
  ): Promise<RawAnswer> {
    const bytes = typeof body === 'object' && !Buffer.isBuffer(body) ? JSON.stringify(body) : body;
    const sent = { ...(bytes === undefined ? {} : JSON_BODY), ...this.credentials, ...headers };
    const answer = await send(this.url, { method, path: target, headers: sent, body: bytes });
    this.hold(`${method} ${at}`, this.document.paths[at]?.[method.toLowerCase()], answer, at, method);
    return answer;
  }

  private hold(
    name: string,
    operation: Operation | undefined,
    answer: RawAnswer,
    at: string,
    method: string,
  ) {
    const { status, headers, text } = answer;
    const seen = this.seen.get(name) ?? new Set();
    this.seen.set(name, seen.add(status));
    const told = operation?.responses[status];
    expect(told, `${name} answers ${status} ${text.slice(0, 100)}, which its document does not say`).to.be.an(
      'object',
    );
    const [pointer, response] = this.resolve(at, method, status, told!);
    for (const header of Object.keys(response.headers ?? {}))
      if (['Retry-After', 'WWW-Authenticate', 'X-Request-Id'].includes(header))
        expect(headers, `${name} ${status}`).to.have.property(header.toLowerCase());
    const [type] = Object.keys(response.content ?? {});
    if (type) expect(headers['content-type'], `${name} ${status}`).to.match(new RegExp(`^${escaped(type)}`));
    if (type !== 'application/json') return;
    const check = this.ajv.getSchema(
      `document#${pointer}/content/application~1json/schema`,
    ) as ValidateFunction;
    expect(
      check(JSON.parse(text)),
      `${name} ${status}: ${text} ${this.ajv.errorsText(check.errors)}`,
    ).to.equal(true);
  }

  private resolve(
    path: string,
    method: string,
    status: number,
    told: ResponseDoc | { readonly $ref: string },
  ): readonly [pointer: string, ResponseDoc] {
    if (!('$ref' in told)) {
      return [
        `/paths/${encodeURIComponent(path.replaceAll('/', '~1'))}/${method.toLowerCase()}/responses/${status}`,
        told,
      ];
    }
    const names = told.$ref.slice(2).split('/');
    const found = names.reduce<unknown>(
      (value, name) => (value as { [name: string]: unknown })[name],
      this.document,
    );
    return [told.$ref.slice(1), found as ResponseDoc];
  }

  /** Everything that is wrong in the same way everywhere, on every route. */
  async storm(targetOf: (path: string) => string, evil: Headers) {
    for (const [at, method, { parameters, requestBody, security }] of this.operations) {
      const target = targetOf(at);
      const ask = (more: { headers?: Headers; body?: string | Buffer; query?: string }) =>
        this.ask(method, at, { ...more, target: `${target}${more.query ?? ''}` });
      await ask({ headers: { 'idempotency-key': 'x'.repeat(256) } });
      await ask({ headers: { 'if-position': 'x' } });
      await ask({ headers: evil });
      if (security)
        for (const authorization of ['', 'Bearer x', 'Basic eDp5']) await ask({ headers: { authorization } });
      for (const { name } of parameters.filter((each) => each.in === 'query')) {
        for (const value of ['', 'x', '-1', '1e400', '%00', '%zz', '2026-02-30', 'x'.repeat(5000)])
          await ask({ query: `?${name}=${value}` });
        await ask({ query: `?${name}=x&${name}=y` });
      }
      if (!requestBody) continue;
      for (const body of ['{', '[]', 'null', '"x"', '{"a":', '{}', '\u0000']) await ask({ body });
      await ask({ body: '{}', headers: { 'content-encoding': 'br' } });
      await ask({ body: '{}', headers: { 'content-encoding': 'gzip' } });
      await ask({ body: '{}', headers: { 'content-type': 'text/plain' } });
      await ask({ body: Buffer.alloc(EIGHT_MIB + 1, ' ') });
    }
  }

  /** Bodies that stall, on all routes at once: it takes seconds until they are given up. */
  async stall(targetOf: (path: string) => string, headers: Headers = {}) {
    const stalling = { ...headers, 'content-length': '100' };
    await Promise.all(
      this.operations
        .filter(([, , { requestBody }]) => requestBody)
        .map(([at, method]) => this.ask(method, at, { target: targetOf(at), headers: stalling, body: '{' })),
    );
  }

  /**
   * What the document says could be answered and nobody got; not looked for are errors of ours (5xx), and what takes
   * more than one client: that everywhere too much is under way.
   */
  unseen(): readonly string[] {
    return this.operations.flatMap(([path, method, { responses }]) =>
      Object.keys(responses)
        .filter((status) => !isOfTheKernel(responses[status], 429))
        .filter((status) => Number(status) < 500 && !this.seen.get(`${method} ${path}`)?.has(Number(status)))
        .map((status) => `${method} ${path} ${status}`),
    );
  }
}

const isOfTheKernel = (response: object | undefined, status: number) =>
  response !== undefined && '$ref' in response && response.$ref === `#/components/responses/${status}`;

const escaped = (text: string) => text.replaceAll(/[/.+]/g, '\\$&');

describe('the documents', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  let open: Server;
  let closed: Server;
  const foreign = { host: 'evil.example' };

  before(async () => {
    open = await startServer(directory.path, ['--rooms-create-per-hour', '40']);
    closed = await startServer(directory.path, [], {
      ANNALS_LOGS_API_TOKEN: 'a-token-of-the-api',
      ANNALS_LOGS_PRODUCERS: '[{"id":"web","token":"a-token-of-web"}]',
    });
  });
  after(async () => {
    await closed?.stop();
    await open?.stop();
    directory.remove();
  });

  it('of the rooms say all that hostile hands can get, and nothing else', async () => {
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
      // A body of its own for every mistake: with the right token they come as far as they can.
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

  it('of the log service say all that hostile hands can get, and nothing else', async () => {
    for (const [url, credentials, evil, windowMinutes] of [
      [open.urls.logs, {}, foreign, 10],
      [
        closed.urls.logs,
        { authorization: 'Bearer a-token-of-the-api' },
        { authorization: 'Bearer a-token-of-web' },
        20,
      ],
    ] as const) {
      const logs = await Examined.at(url, credentials);
      const alive = { ...JSON_BODY, ...credentials };
      await logs.stall((path) => path);
      await logs.storm((path) => path, evil);
      for (const [path, method, operation] of logs.operations) {
        if (method === 'GET') await logs.ask(method, path, { headers: alive });
        if (method === 'GET' || !operation.requestBody) continue;
        const headers = { 'idempotency-key': `${method} ${path}` };
        for (const body of [{ windowMinutes }, { windowMinutes: windowMinutes + 1 }])
          await logs.ask(method, path, { headers, body });
      }
      await logs.ask('GET', '/api/logs/aggregate', { target: '/api/logs/aggregate?groupBy=level' });
      // Takes whatever is posted.
      const webhookUrl = `${open.urls.logs}/api/ingest`;
      await logs.ask('POST', '/api/alerts/test-webhook', { body: { webhookUrl: 'http://169.254.169.254/' } });
      while ((await logs.ask('GET', '/api/reindex')).text.includes('"running"'));
      const several = Array.from({ length: 3 }, () => logs.ask('POST', '/api/reindex'));
      await Promise.all(several);
      await logs.ask('POST', '/api/reindex', { target: '/api/reindex?async=true' });
      await logs.ask('POST', '/api/alerts/test-webhook', { body: { webhookUrl } });
      // Records that are no longer kept take days.
      expect(logs.unseen()).to.deep.equal(['POST /api/ingest 410']);
    }
  });

  it('of the log service begin people with bodies that are taken, and change nothing besides', async () => {
    const logs = await Examined.at(open.urls.logs);
    const before = JSON.parse((await logs.ask('GET', '/api/alerts/config')).text).policy;
    for (const [path, method, { requestBody }] of logs.operations)
      for (const [type, { schema, example }] of Object.entries(requestBody?.content ?? {})) {
        if (schema.properties && Object.keys(schema.properties).length === 0) continue;
        expect(example, `${method} ${path} ${type}`).not.equal(undefined);
        // It would call somebody.
        if (path === '/api/alerts/test-webhook') continue;
        const body = typeof example === 'string' ? example : JSON.stringify(example);
        const { status, text } = await logs.ask(method, path, { headers: { 'content-type': type }, body });
        expect(status, `${method} ${path} ${type} ${text}`).equal(200);
        if (path === '/api/ingest') expect(JSON.parse(text)).to.include({ rejected: 0 });
      }
    const { policy } = JSON.parse((await logs.ask('GET', '/api/alerts/config')).text);
    const { enabled, webhookUrl, errorThreshold } = policy;
    expect(policy).to.deep.equal({ ...before, enabled, webhookUrl, errorThreshold });
    await logs.ask('PUT', '/api/alerts/config', { body: { webhookUrl: null } });
  });

  it('of the operations port say all that hostile hands can get, and nothing else', async () => {
    const operations = await Examined.at(open.urls.operations);
    await operations.storm((path) => path, foreign);
    for (const [path, method] of operations.operations) {
      await operations.ask(method, path);
      await operations.ask(method, path, { headers: { forwarded: 'for=203.0.113.9' } });
    }
    expect(operations.unseen()).to.deep.equal([]);
  });
});
