/** Caches are bounded in bytes and reported in metrics. */
import { readFileSync } from 'node:fs';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { call, type Entered } from '../support/room-client.js';
import { newSigner, random, text } from '../support/room-fixtures.js';
import { type Server, startServer } from '../support/server-process.js';

describe('server memory', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  let server: Server;
  before(async () => {
    server = await startServer(directory.path, ['--rooms-create-per-hour', '100000']);
  });
  after(async () => {
    await server?.stop();
    directory.remove();
  });

  /** Bytes by cache name. */
  async function gauges(name: string): Promise<Map<string, number>> {
    const metrics = await (await fetch(`${server.urls.operations}/metrics`)).text();
    const lines = metrics.matchAll(new RegExp(`^${name}\\{cache="([^"]+)"\\} (\\d+)$`, 'gm'));
    return new Map([...lines].map(([, cache = '', value]) => [cache, Number(value)]));
  }

  it('stays within the bound of each cache under large messages', async () => {
    const base = server.urls.rooms ?? '';
    const signingPublicKey = (await newSigner()).publicKey;
    const envelope = () => ({
      keyVersion: 1,
      messageIndex: 0,
      chainId: text(random(8)),
      chainKeyNonce: 'bm9uY2U',
      chainKeyCiphertext: 'a2V5',
      nonce: 'bm9uY2Uy',
      ciphertext: text(random(24_000)),
      signature: 'c2lnbmF0dXJl',
    });
    const room = async () => {
      const { body } = await call<Entered>(base, 'POST', '/rooms', { body: { signingPublicKey } });
      const path = `/rooms/${body.roomId}/messages`;
      for (let index = 0; index < 39; index++) {
        const { status } = await call(base, 'POST', path, { token: body.sessionToken, body: envelope() });
        expect(status).to.equal(201);
      }
    };
    for (let round = 0; round < 2; round++) await Promise.all(Array.from({ length: 9 }, room));

    const [held, limits] = [await gauges('annals_cache_bytes'), await gauges('annals_cache_limit_bytes')];
    const caches = [
      'streams',
      'large-streams',
      'keys',
      'secrets',
      'fresh-secrets',
      'rooms.relay',
      'rooms.shown',
      'logs.relay',
      'chat.pages',
      'chat.threads',
      'chat.tokens',
      'chat.search-filters',
      'chat.search-texts',
      'chat.relay',
    ];
    expect([...limits.keys()]).to.include.members(caches);
    for (const [cache, limit] of limits) expect(held.get(cache), cache).to.be.within(0, limit);
    // More than 20 MB of messages have passed, so the caches are full.
    expect(held.get('rooms.relay')).to.be.greaterThan((limits.get('rooms.relay') ?? 0) * 0.8);
    // All caches together leave the process below 350 MB; state of tens of thousands of participants is extra.
    const large = limits.get('large-streams') ?? 0;
    const all = [...limits.values()].reduce((sum, each) => sum + each);
    expect(all - large).to.be.lessThan(250 * 1024 * 1024);
    expect(large).to.be.within(1, 200 * 1024 * 1024);
  });

  it('holds nothing of a burned room', async () => {
    const base = server.urls.rooms ?? '';
    const signingPublicKey = (await newSigner()).publicKey;
    const { body } = await call<Entered>(base, 'POST', '/rooms', { body: { signingPublicKey } });
    const path = `/rooms/${body.roomId}`;
    const token = body.sessionToken;
    const unsent = { chainId: 'a', chainKeyNonce: 'a', chainKeyCiphertext: 'a', nonce: 'a', signature: 'a' };
    const envelope = { keyVersion: 1, messageIndex: 0, ciphertext: 'a', ...unsent };
    await call(base, 'POST', `${path}/messages`, { token, body: envelope });
    const held = async () => (await gauges('annals_cache_bytes')).get('rooms.shown');
    // Cached as soon as the rows include everything.
    await eventually(async () => {
      await call(base, 'GET', `${path}/state`, { token });
      return ((await held()) ?? 0) > 0;
    });
    await call(base, 'POST', `${path}/burn`, { token, body: {} });
    await eventually(async () => (await held()) === 0);
  });

  it('is reported for each engine without its memory-mapped store', async function () {
    if (process.platform !== 'linux') return this.skip();
    const metrics = async () => (await fetch(`${server.urls.operations}/metrics`)).text();
    const reported = async (engine: string) =>
      Number(new RegExp(`^annals_engine_memory_bytes\\{engine="${engine}"\\} (\\d+)$`, 'm').exec(await metrics())?.[1]);
    for (const engine of ['eventstore', 'mongo']) {
      const status = readFileSync(`/proc/${server.pids[engine]}/status`, 'utf8');
      const all = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) * 1024;
      expect(await reported(engine), engine).to.be.within(all / 10, all);
    }
    const { mongo } = server.pids;
    process.kill(mongo!, 'SIGKILL');
    await eventually(() => server.pids.mongo !== mongo);
    expect(await reported('mongo')).to.be.greaterThan(0);
  });
});
