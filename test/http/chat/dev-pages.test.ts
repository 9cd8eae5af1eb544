/** Origins and hosts that may use development sign-in with an email alone. */
import { expect } from 'chai';
import { chat } from '../../../bin/services/chat.js';
import { send } from '../../support/http-spec.js';
import { type RunningNode, startNode } from '../../support/node.js';

const FLAGS = { '--chat-port': '0' };

type Headers = { readonly [name: string]: string };

describe('development sign-in', function () {
  this.timeout(60_000);
  let node: RunningNode;
  const started = async (flags = {}) => {
    node = await startNode([chat], { flags: { ...FLAGS, ...flags } });
  };
  afterEach(() => node?.stop());

  const signIn = async (headers: Headers) => {
    const request = {
      method: 'POST',
      path: '/auth/dev-login',
      headers: { host: 'localhost', 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ email: 'admin@localhost' }),
    };
    const { status, text } = await send(node.url('chat'), request);
    return { status, ...JSON.parse(text) };
  };

  it('rejects pages of other sites, and hosts that only resolve to this machine', async () => {
    await started();
    for (const origin of ['https://evil.example', 'http://localhost.evil.example', 'null']) {
      const refused = await signIn({ origin });
      expect(refused, origin).to.include({ status: 403 }).and.not.to.have.property('token');
      expect(refused.error, origin).to.be.a('string');
    }
    for (const host of ['evil.example', '127.0.0.1.evil.example:3000'])
      expect(await signIn({ host, origin: `http://${host}` }), host).to.include({ status: 403 });
    for (const addresses of ['203.0.113.9', '127.0.0.1, 203.0.113.9'])
      expect(await signIn({ 'x-forwarded-for': addresses }), addresses).to.include({ status: 403 });
    const proxied: readonly Headers[] = [
      { 'x-real-ip': '203.0.113.9' },
      { forwarded: 'for=203.0.113.9' },
      { 'x-forwarded-host': 'chat.example' },
    ];
    for (const headers of proxied) expect(await signIn(headers), JSON.stringify(headers)).to.include({ status: 403 });
    const local: readonly Headers[] = [
      { 'x-forwarded-for': '127.0.0.1' },
      {},
      { origin: 'http://localhost:5173' },
      { host: '127.0.0.1:3000' },
    ];
    for (const headers of local) expect(await signIn(headers), JSON.stringify(headers)).to.include({ status: 200 });
  });

  it("accepts the application's origin, and configured origins", async () => {
    await started({
      '--auth-app-url': 'https://chat.example/app',
      '--server-allowed-origins': 'https://desk.example',
    });
    for (const origin of ['https://chat.example', 'https://desk.example'])
      expect(await signIn({ origin }), origin).to.include({ status: 200 });
    expect(await signIn({ host: 'chat.example' })).to.include({ status: 200 });
    expect(await signIn({ origin: 'https://evil.example' })).to.include({ status: 403 });
  });

  it('accepts every host and origin with --allow-dev', async () => {
    await started({ '--allow-dev': 'true' });
    expect(await signIn({ host: 'desk.example', origin: 'https://desk.example' })).to.include({
      status: 200,
    });
  });
});
