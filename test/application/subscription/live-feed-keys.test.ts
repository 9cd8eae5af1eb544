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
    const asked: string[] = [];
    const store: KeyStore = {
      ...keys,
      async read(subject) {
        asked.push('primary');
        if (isAway) throw new UnavailableError('there is no primary');
        return keys.read(subject);
      },
      async readReplica() {
        asked.push('replica');
        return replica.key;
      },
    };
    const back = () => {
      isAway = false;
    };
    return { keys, vault: createVault(store, aes256gcm), asked, back };
  }
  const sealed = (key: Buffer, note: string) => aes256gcm.seal(key, JSON.stringify({ note }));
  const failure = (opening: Promise<unknown>) =>
    opening.then(
      (found) => found,
      (error) => error.name,
    );

  it('come from a replica for what was sealed a moment ago, and are remembered', async () => {
    const key = aes256gcm.newKey();
    const { vault, asked } = away({ key });
    expect(await vault.openLive(SUBJECT, sealed(key, 'one'))).to.deep.equal({ note: 'one' });
    expect(await vault.open(SUBJECT, sealed(key, 'two'))).to.deep.equal({ note: 'two' });
    expect(asked).to.deep.equal(['replica']);
  });

  it('come from the primary alone for what is of any age', async () => {
    const key = aes256gcm.newKey();
    const { vault, asked } = away({ key });
    expect(await failure(vault.open(SUBJECT, sealed(key, 'one')))).to.equal('UnavailableError');
    expect(asked).to.deep.equal(['primary']);
  });

  it('are waited for where the replica has none yet, or one that was renewed since', async () => {
    const key = aes256gcm.newKey();
    for (const stale of [undefined, aes256gcm.newKey()]) {
      const { vault, keys, back } = away({ key: stale });
      await keys.create(SUBJECT, key);
      expect(await failure(vault.openLive(SUBJECT, sealed(key, 'one')))).to.equal('UnavailableError');
      back();
      expect(await vault.openLive(SUBJECT, sealed(key, 'one'))).to.deep.equal({ note: 'one' });
    }
  });

  it('are not taken from a replica that has not heard of an erasure that this process has', async () => {
    const key = aes256gcm.newKey();
    const { vault, keys, asked, back } = away({ key });
    await vault.openLive(SUBJECT, sealed(key, 'one'));
    vault.forget(SUBJECT);
    expect(await failure(vault.openLive(SUBJECT, sealed(key, 'two')))).to.equal('UnavailableError');
    await keys.destroy(SUBJECT);
    back();
    expect(await vault.openLive(SUBJECT, sealed(key, 'two'))).to.equal(undefined);
    expect(asked).to.deep.equal(['replica', 'primary', 'primary']);
  });

  it('do not hold up the live feed', async () => {
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
    const told: LiveEvent[] = [];
    const feed = runLiveFeed({
      ...memoryKernel({ ...world, keys }, [toys]),
      catalogs: [toys],
      windows: new Map([['toys', { horizon: 0n, from: 0n }]]),
      begun: 0n,
      saved: { save: async () => {} },
      subscriptions: new Map([['toys', [(event) => void told.push(event)]]]),
      switched: () => {},
      logger: silentLogger,
      signal: stop.signal,
    });
    await feed.ready;
    await writer.vault.create(SUBJECT);
    await writer.handle(box, SUBJECT, { box: '1', toy: 'bear', note: 'on bear' }, context());
    await eventually(() => told.length > 0);
    expect((told[0] as RevealedEvent<ToyPut>).data.secret.note).to.equal('on bear');
    expect(feed.status()).to.equal('live');
    stop.abort();
    await feed.stopped;
  });
});
