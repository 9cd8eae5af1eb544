/** Requests: idempotency keys, metadata, client addresses, credentials and positions. */
import { expect } from 'chai';
import { createClientAddress } from '../../adapters/http/server/client-network.js';
import { cors } from '../../adapters/http/server/policy.js';
import { type CommandContext, UnavailableError } from '../../application/ports/index.js';
import { echo, serveToys, type Toys } from './toy-http-service.js';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('request context', () => {
  let toys: Toys;
  before(async () => {
    toys = await serveToys(
      [
        echo({
          path: '/toys/:toyId',
          body: { type: 'object', properties: { name: { type: 'string' } } },
          handle: (request) => ({
            status: 200,
            body: request.context('actor-1', request.bearer ?? request.address),
          }),
        }),
        echo({
          path: '/me',
          method: 'GET',
          query: { type: 'object', properties: {} },
          handle: ({ bearer, basic, address, ifPosition, cursor }) => ({
            status: 200,
            body: { bearer, basic, address, ifPosition: ifPosition?.toString(), cursor: cursor?.toString() },
          }),
        }),
        echo({
          path: '/away',
          handle: () => {
            throw new UnavailableError('esdb://secret');
          },
        }),
        echo({
          path: '/behind',
          method: 'GET',
          handle: () => ({ status: 200, body: {}, consistency: 'pending' }),
        }),
      ],
      {},
      { clientAddress: createClientAddress(['127.0.0.1', '10.0.0.0/8']) },
    );
  });
  after(() => toys.close());

  const command = async (path: string, body: unknown, headers: { [name: string]: string } = {}) =>
    (await toys.post(path, body, headers)).json as unknown as CommandContext;

  it('without an Idempotency-Key has a new command id each time', async () => {
    const first = await command('/toys/1', {});
    const second = await command('/toys/1', {});
    expect(first.commandId).not.to.equal(second.commandId);
    expect(first).not.to.have.property('fingerprint');
    expect(first.actor).to.equal('actor-1');
  });

  it('with the same key, caller, path and body has the same command id', async () => {
    const key = { 'Idempotency-Key': 'order 1' };
    expect({ ...(await command('/toys/1', { name: 'a' }, key)), correlationId: '' }).to.deep.equal({
      ...(await command('/toys/1', { name: 'a' }, key)),
      correlationId: '',
    });
  });

  it('with another caller, path or key has another command id; with another body another fingerprint', async () => {
    const key = { 'Idempotency-Key': 'order 1' };
    const first = await command('/toys/1', { name: 'a' }, key);
    for (const other of [
      await command('/toys/2', { name: 'a' }, key),
      await command('/toys/1', { name: 'a' }, { 'Idempotency-Key': 'order 2' }),
      await command('/toys/1', { name: 'a' }, { ...key, Authorization: 'Bearer other' }),
    ]) {
      expect(other.commandId).not.to.equal(first.commandId);
    }
    const changed = await command('/toys/1', { name: 'b' }, key);
    expect(changed.commandId).to.equal(first.commandId);
    expect(changed.fingerprint).not.to.equal(first.fingerprint);
    expect((await command('/toys/1', '', key)).fingerprint).to.equal((await command('/toys/1', {}, key)).fingerprint);
  });

  it('rejects invalid idempotency keys', async () => {
    for (const key of ['', 'x'.repeat(256), 'caf\u00e9']) {
      const { status, json } = await toys.post('/toys/1', {}, { 'Idempotency-Key': key });
      expect([status, String(json.error)]).to.deep.equal([
        400,
        'Idempotency-Key is invalid: 1 to 255 printable characters',
      ]);
    }
  });

  it('carries the request id and trace into the command', async () => {
    const context = await command('/toys/1', {}, { 'X-Request-Id': 'r-1', traceparent: TRACE });
    expect(context).to.include({ correlationId: 'r-1', traceparent: TRACE });
    for (const wrong of ['00-zz', TRACE.replace('0af7651916cd43dd8448eb211c80319c', '0'.repeat(32)), `${TRACE}-x`]) {
      expect(await command('/toys/1', {}, { traceparent: wrong })).not.to.have.property('traceparent');
    }
  });

  it('parses bearer and basic credentials', async () => {
    const me = async (headers: { [name: string]: string }) => (await toys.ask('/me', { headers })).json;
    expect((await me({ Authorization: 'Bearer abc.def' })).bearer).to.equal('abc.def');
    expect((await me({ Authorization: 'bearer abc' })).bearer).to.equal('abc');
    expect(await me({ Authorization: 'Bearer' })).not.to.have.property('bearer');
    const basic = `Basic ${Buffer.from('ann:pa:ss').toString('base64')}`;
    expect((await me({ Authorization: basic })).basic).to.deep.equal({ username: 'ann', password: 'pa:ss' });
    // curl sends UTF-8; pages may send Latin-1.
    for (const charset of ['utf8', 'latin1'] as const) {
      const encoded = Buffer.from('ann:pässword', charset).toString('base64');
      const { basic } = await me({ Authorization: `Basic ${encoded}` });
      expect(basic).to.deep.equal({ username: 'ann', password: 'pässword' });
    }
    for (const wrong of ['Basic', 'Basic !!!', `Basic ${Buffer.from('ann').toString('base64')}`]) {
      expect(await me({ Authorization: wrong }), wrong).not.to.have.property('basic');
    }
  });

  it('takes the address from a trusted proxy', async () => {
    const from = async (forwarded: string) =>
      (await toys.ask('/me', { headers: { 'X-Forwarded-For': forwarded } })).json.address;
    expect(await from('203.0.113.9')).to.equal('203.0.113.9');
    expect(await from('6.6.6.6, 203.0.113.9, 10.1.2.3')).to.equal('203.0.113.9');
    expect(await from('garbage')).to.equal('127.0.0.1');
  });

  it('parses positions and cursors, and rejects invalid positions', async () => {
    const me = (headers: { [name: string]: string }, path = '/me') => toys.ask(path, { headers });
    expect((await me({ 'If-Position': '9223372036854775807' })).json.ifPosition).to.equal('9223372036854775807');
    for (const wrong of ['-1', 'x', '9223372036854775808', '1.0']) {
      const { status, json } = await me({ 'If-Position': wrong });
      expect([wrong, status, json.error]).to.deep.equal([wrong, 400, 'If-Position is invalid']);
    }
    expect((await me({ 'Last-Event-ID': '42' })).json.cursor).to.equal('42');
    expect((await me({}, '/me?lastEventId=43')).json.cursor).to.equal('43');
    expect((await me({ 'Last-Event-ID': 'stale' })).json.cursor).to.equal('-1');
    expect((await me({})).json).not.to.have.property('cursor');
  });

  it('answers 503 while the stores are unavailable, and reports pending consistency', async () => {
    const { status, text, headers } = await toys.post('/away', {});
    expect(status).to.equal(503);
    expect(headers.get('retry-after')).to.equal('1');
    expect(text).not.to.include('secret');
    expect((await toys.ask('/behind')).headers.get('consistency')).to.equal('pending');
  });
});

describe('CORS with a list of origins', () => {
  const corsHeaders = cors({
    origins: ['https://a.example'],
    methods: ['GET'],
    headers: ['Authorization'],
    expose: ['Position'],
    maxAgeSeconds: 60,
  });

  it('echoes a listed origin', () => {
    expect(corsHeaders({ origin: 'https://a.example', path: '/', preflight: true })).to.deep.equal({
      'Access-Control-Allow-Origin': 'https://a.example',
      Vary: 'Origin',
      'Access-Control-Expose-Headers': 'Position',
      'Access-Control-Allow-Methods': 'GET',
      'Access-Control-Allow-Headers': 'Authorization',
      'Access-Control-Max-Age': '60',
    });
  });

  it('allows no other origin, and varies by origin', () => {
    for (const origin of ['https://b.example', 'https://a.example.evil', 'null', undefined]) {
      expect(corsHeaders({ origin, path: '/', preflight: false })).to.deep.equal({ Vary: 'Origin' });
    }
  });
});
