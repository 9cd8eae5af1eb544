/** The vault caches keys and plaintexts within bounds, and nothing of a destroyed key. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { aes256gcm } from '../../../adapters/crypto/cipher.js';
import { treatAsErased } from '../../../application/secrets/decrypt-events.js';
import { createVault, type KeyStore } from '../../../application/secrets/vault.js';

/** Keys in memory; `hold` blocks reads until they are released. */
function keyStore() {
  const keys = new Map<string, Buffer | 'destroyed'>();
  let hold: Promise<void> | undefined;
  const reads: string[] = [];
  const store: KeyStore = {
    async create(subject, fresh) {
      if (!keys.has(subject)) keys.set(subject, fresh);
      const key = keys.get(subject);
      return key === 'destroyed' ? undefined : key;
    },
    renew: () => Promise.reject(new Error('renew is not supported')),
    async read(subject) {
      reads.push(subject);
      const key = keys.get(subject);
      await hold;
      return key;
    },
    async destroy(subject) {
      keys.set(subject, 'destroyed');
    },
  };
  return {
    store,
    reads,
    destroyOnOtherNode: (subject: string) => keys.set(subject, 'destroyed'),
    hold() {
      let release = () => {};
      hold = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
  };
}

const text = (length: number) => 'x'.repeat(length);

describe('the vault', () => {
  it('decrypts many secrets together, except corrupt ones', async () => {
    const keys = keyStore();
    const vault = createVault(keys.store, aes256gcm);
    await vault.create('toys.box-1');
    const sealed: string[] = [];
    for (const note of ['one', 'two']) sealed.push((await vault.seal('toys.box-1', { note })) ?? '');
    for (const each of [vault, createVault(keys.store, aes256gcm)])
      expect(await each.openMany('toys.box-1', sealed)).to.deep.equal([{ note: 'one' }, { note: 'two' }]);
    const damaged = [sealed[0]!, 'AAAA', sealed[1]!];
    let reports = 0;
    const erased = treatAsErased(vault, () => reports++);
    expect(await erased.openMany('toys.box-1', damaged)).to.deep.equal([{ note: 'one' }, undefined, { note: 'two' }]);
    expect(reports).to.equal(1);
    await vault.destroy('toys.box-1');
    expect(await vault.openMany('toys.box-1', sealed)).to.deep.equal([undefined, undefined]);
  });

  it('decrypts no further secrets of many once their key is destroyed', async () => {
    let opened = 0;
    const open = (key: Buffer, sealed: string) => {
      if (++opened === 10) void vault.destroy('toys.box-1');
      return aes256gcm.open(key, sealed);
    };
    const vault = createVault(keyStore().store, { ...aes256gcm, open });
    await vault.create('toys.box-1');
    const sealed = (await vault.seal('toys.box-1', { note: 'one' }, true)) ?? '';
    // More than one slice of the event loop, after which the key is read again.
    const secrets = await vault.openMany('toys.box-1', Array<string>(50_000).fill(sealed));
    expect(secrets[0]).to.deep.equal({ note: 'one' });
    expect(secrets.at(-1)).to.equal(undefined);
  });

  it('stays within its memory bounds, and decrypts everything', async () => {
    const vault = createVault(keyStore().store, aes256gcm);
    const first = [];
    for (let index = 0; index < 30_000; index++) {
      const subject = `toys.box-${index}`;
      await vault.create(subject);
      const sealed = await vault.seal(subject, { note: text(index % 3 === 0 ? 5000 : 500), index });
      if (index < 20) first.push({ subject, sealed: sealed ?? '' });
    }
    for (const { name, limitBytes, bytes } of vault.caches) {
      expect(bytes(), name).to.be.within(limitBytes * 0.5, limitBytes);
    }
    for (const [index, { subject, sealed }] of first.entries()) {
      expect(await vault.open(subject, sealed)).to.deep.include({ index });
    }
  });

  it('forgets plaintexts of a destroyed key only', async () => {
    const vault = createVault(keyStore().store, aes256gcm);
    for (const subject of ['toys.box-1', 'toys.box-2']) await vault.create(subject);
    const sealed = (await vault.seal('toys.box-1', { note: 'for Ada' })) ?? '';
    const other = (await vault.seal('toys.box-2', { note: 'for Bob' })) ?? '';
    const cachedBytes = () => vault.caches.reduce((sum, { bytes }) => sum + bytes(), 0);
    const both = cachedBytes();
    await vault.destroy('toys.box-1');
    expect(cachedBytes()).to.be.closeTo(both / 2, both / 100);
    expect(await vault.open('toys.box-1', sealed)).to.equal(undefined);
    expect(await vault.open('toys.box-2', other)).to.deep.equal({ note: 'for Bob' });
  });

  it('caches a secret marked as read once until it is read', async () => {
    const { store } = keyStore();
    const [vault, otherVault] = [createVault(store, aes256gcm), createVault(store, aes256gcm)];
    await vault.create('toys.box-1');
    const secret = { note: 'for Ada' };
    const cachedBytes = () => vault.caches.slice(1).reduce((sum, { bytes }) => sum + bytes(), 0);
    const sealed = (await vault.seal('toys.box-1', secret, true)) ?? '';
    expect(cachedBytes()).to.be.above(0);
    expect(await vault.open('toys.box-1', sealed, true)).to.equal(secret);
    expect(cachedBytes()).to.equal(0);
    const others = (await otherVault.seal('toys.box-1', secret, true)) ?? '';
    for (const each of [sealed, others]) expect(await vault.open('toys.box-1', each, true)).to.deep.equal(secret);
    expect(cachedBytes()).to.equal(0);
    expect(await vault.open('toys.box-1', sealed)).to.equal(await vault.open('toys.box-1', sealed));
  });

  it('caches a key only for its lifetime', async () => {
    const { store, destroyOnOtherNode } = keyStore();
    const vault = createVault(store, aes256gcm, 5);
    await vault.create('toys.box-1');
    const sealed = await vault.sealBytes('toys.box-1', Buffer.from('a note'));
    expect(Buffer.from((await vault.openBytes('toys.box-1', sealed!))!).toString()).to.equal('a note');
    destroyOnOtherNode('toys.box-1');
    await eventually(async () => (await vault.openBytes('toys.box-1', sealed!)) === undefined);
    const [keys] = vault.caches;
    expect(keys?.bytes()).to.equal(0);
  });

  it('does not cache a key that was destroyed on another node while it was read', async () => {
    const keys = keyStore();
    const [reader, otherVault] = [createVault(keys.store, aes256gcm), createVault(keys.store, aes256gcm)];
    await otherVault.create('toys.box-1');
    const sealed = (await otherVault.seal('toys.box-1', { note: 'for Ada' })) ?? '';
    const release = keys.hold();
    const opening = reader.open('toys.box-1', sealed);
    keys.destroyOnOtherNode('toys.box-1');
    reader.forget('toys.box-1');
    release();
    await opening;
    expect(await reader.open('toys.box-1', sealed)).to.equal(undefined);
    expect(reader.caches.reduce((sum, { bytes }) => sum + bytes(), 0)).to.equal(0);
  });

  it('reads a key once for concurrent decryptions, and again after it was forgotten', async () => {
    const { store, reads, destroyOnOtherNode, hold } = keyStore();
    const [vault, reader] = [createVault(store, aes256gcm), createVault(store, aes256gcm)];
    await vault.create('toys.box-1');
    const sealed = await Promise.all([1, 2, 3].map((n) => vault.seal('toys.box-1', { n })));
    const release = hold();
    const opening = sealed.map((each) => reader.open('toys.box-1', each ?? ''));
    destroyOnOtherNode('toys.box-1');
    reader.forget('toys.box-1');
    const afterwards = reader.open('toys.box-1', sealed[0] ?? '');
    release();
    expect(await Promise.all(opening)).to.deep.equal([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(await afterwards).to.equal(undefined);
    expect(reads).to.deep.equal(['toys.box-1', 'toys.box-1']);
  });
});
