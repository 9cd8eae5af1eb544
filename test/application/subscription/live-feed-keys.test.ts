/** What is opened while no key server takes writes, and that nothing is opened then that was erased. */
import { eventually } from '@annals/engines/testing/condition.js';
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { aes256gcm } from '../../../adapters/crypto/cipher.js';
import { type RevealedEvent, UnavailableError } from '../../../application/ports/index.js';
import { createVault, type KeyStore } from '../../../application/secrets/vault.js';
import type { LiveEvent } from '../../../application/subscription/live-feed.js';
import { runLiveFeed } from '../../../application/subscription/live-feed.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { box, context, type ToyPut, toys } from '../../support/toy-service.js';

const SUBJECT = 'toys.box-1';

describe('keys while no key server takes writes', () => {
  /** `replica`: what a secondary still has, or has already. */
  function away(replica: { key?: Buffer | undefined }) {
    const { keys } = memoryWorld();
    let isAway = true;
    const calls: string[] = [];
    const store: KeyStore = {
      ...keys,
      async read(subject) {
        calls.push('primary');
        if (isAway) throw new UnavailableError('there is no primary');
        return keys.read(subject);
      },
      async readReplica() {
        calls.push('replica');
        return replica.key;
      },
    };
    const back = () => {
      isAway = false;
    };
    return { keys, vault: createVault(store, aes256gcm), calls, back };
  }
  const sealed = (key: Buffer, note: string) => aes256gcm.seal(key, JSON.stringify({ note }));
  const failure = (opening: Promise<unknown>) =>
    opening.then(
      (found) => found,
      (error) => error.name,
    );

  it('are read from a replica for data sealed a moment ago, and cached', async () => {
    const key = aes256gcm.newKey();
    const { vault, calls } = away({ key });
    expect(await vault.openLive(SUBJECT, sealed(key, 'one'))).to.deep.equal({ note: 'one' });
    expect(await vault.open(SUBJECT, sealed(key, 'two'))).to.deep.equal({ note: 'two' });
    expect(calls).to.deep.equal(['replica']);
  });

  it('are read only from the primary for data of any age', async () => {
    const key = aes256gcm.newKey();
    const { vault, calls } = away({ key });
    expect(await failure(vault.open(SUBJECT, sealed(key, 'one')))).to.equal('UnavailableError');
    expect(calls).to.deep.equal(['primary']);
  });

  it('are awaited if the replica has none yet, or an older one', async () => {
    const key = aes256gcm.newKey();
    for (const stale of [undefined, aes256gcm.newKey()]) {
      const { vault, keys, back } = away({ key: stale });
      await keys.create(SUBJECT, key);
      expect(await failure(vault.openLive(SUBJECT, sealed(key, 'one')))).to.equal('UnavailableError');
      back();
      expect(await vault.openLive(SUBJECT, sealed(key, 'one'))).to.deep.equal({ note: 'one' });
    }
  });

  it('are not read from a replica that lags behind an erasure known to this process', async () => {
    const key = aes256gcm.newKey();
    const { vault, keys, calls, back } = away({ key });
    await vault.openLive(SUBJECT, sealed(key, 'one'));
    vault.forget(SUBJECT);
    expect(await failure(vault.openLive(SUBJECT, sealed(key, 'two')))).to.equal('UnavailableError');
    await keys.destroy(SUBJECT);
    back();
    expect(await vault.openLive(SUBJECT, sealed(key, 'two'))).to.equal(undefined);
    expect(calls).to.deep.equal(['replica', 'primary', 'primary']);
  });

  it('do not delay the live feed', async () => {
    const world = memoryWorld();
    const writer = memoryKernel(world, [toys]);
    const { read } = world.keys;
    const keys: KeyStore = {
      ...world.keys,
      read: () => Promise.reject(new UnavailableError('there is no primary')),
      readReplica: async (subject) => {
        const key = await read(subject);
        return key === 'destroyed' ? undefined : key;
      },
    };
    const stop = new AbortController();
    const delivered: LiveEvent[] = [];
    const feed = runLiveFeed({
      ...memoryKernel({ ...world, keys }, [toys]),
      catalogs: [toys],
      windows: new Map([['toys', { horizon: 0n, from: 0n }]]),
      begun: 0n,
      saved: { save: async () => {} },
      subscriptions: new Map([['toys', [(event) => void delivered.push(event)]]]),
      switched: () => {},
      logger: silentLogger,
      signal: stop.signal,
    });
    await feed.ready;
    await writer.vault.create(SUBJECT);
    await writer.handle(box, SUBJECT, { box: '1', toy: 'bear', note: 'on bear' }, context());
    await eventually(() => delivered.length > 0);
    expect((delivered[0] as RevealedEvent<ToyPut>).data.secret.note).to.equal('on bear');
    expect(feed.status()).to.equal('live');
    stop.abort();
    await feed.stopped;
  });
});
