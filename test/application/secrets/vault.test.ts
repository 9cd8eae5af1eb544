/** What a vault remembers: no more than its bounds, and nothing of a key that is gone. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { aes256gcm } from '../../../adapters/crypto/cipher.js';
import { treatAsErased } from '../../../application/secrets/decrypt-events.js';
import { createVault, type KeyStore } from '../../../application/secrets/vault.js';

/** Keys in memory; `held` makes the next read wait until it is released. */
function keyStore() {
  const keys = new Map<string, Buffer | 'destroyed'>();
  let hold: Promise<void> | undefined;
  const asked: string[] = [];
  const store: KeyStore = {
    async create(subject, fresh) {
      if (!keys.has(subject)) keys.set(subject, fresh);
      const key = keys.get(subject);
      return key === 'destroyed' ? undefined : key;
    },
    renew: () => Promise.reject(new Error('nothing is renewed here')),
    async read(subject) {
      asked.push(subject);
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
    asked,
    destroyElsewhere: (subject: string) => keys.set(subject, 'destroyed'),
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
  it('opens many at once, and all but those that are damaged', async () => {
    const keys = keyStore();
    const vault = createVault(keys.store, aes256gcm);
    await vault.create('toys.box-1');
    const sealed: string[] = [];
    for (const note of ['one', 'two']) sealed.push((await vault.seal('toys.box-1', { note })) ?? '');
    for (const each of [vault, createVault(keys.store, aes256gcm)])
      expect(await each.openMany('toys.box-1', sealed)).to.deep.equal([{ note: 'one' }, { note: 'two' }]);
    const damaged = [sealed[0]!, 'AAAA', sealed[1]!];
    let told = 0;
    const erased = treatAsErased(vault, () => told++);
    expect(await erased.openMany('toys.box-1', damaged)).to.deep.equal([{ note: 'one' }, undefined, { note: 'two' }]);
    expect(told).to.equal(1);
    await vault.destroy('toys.box-1');
    expect(await vault.openMany('toys.box-1', sealed)).to.deep.equal([undefined, undefined]);
  });

  it('holds no more than it may, however much is sealed and opened, and opens all of it', async () => {
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

  it('forgets what it opened, and takes nothing from memory that holds more than a key', async () => {
    const vault = createVault(keyStore().store, aes256gcm);
    for (const subject of ['toys.box-1', 'toys.box-2']) await vault.create(subject);
    const sealed = (await vault.seal('toys.box-1', { note: 'for Ada' })) ?? '';
    const kept = (await vault.seal('toys.box-2', { note: 'for Bob' })) ?? '';
    const held = () => vault.caches.reduce((sum, { bytes }) => sum + bytes(), 0);
    const both = held();
    await vault.destroy('toys.box-1');
    expect(held()).to.be.closeTo(both / 2, both / 100);
    expect(await vault.open('toys.box-1', sealed)).to.equal(undefined);
    expect(await vault.open('toys.box-2', kept)).to.deep.equal({ note: 'for Bob' });
  });

  it('remembers what is opened but once until then, and opens it for whoever asks again', async () => {
    const { store } = keyStore();
    const [vault, elsewhere] = [createVault(store, aes256gcm), createVault(store, aes256gcm)];
    await vault.create('toys.box-1');
    const secret = { note: 'for Ada' };
    const held = () => vault.caches.slice(1).reduce((sum, { bytes }) => sum + bytes(), 0);
    const sealed = (await vault.seal('toys.box-1', secret, true)) ?? '';
    expect(held()).to.be.above(0);
    expect(await vault.open('toys.box-1', sealed, true)).to.equal(secret);
    expect(held()).to.equal(0);
    const others = (await elsewhere.seal('toys.box-1', secret, true)) ?? '';
    for (const each of [sealed, others]) expect(await vault.open('toys.box-1', each, true)).to.deep.equal(secret);
    expect(held()).to.equal(0);
    expect(await vault.open('toys.box-1', sealed)).to.equal(await vault.open('toys.box-1', sealed));
  });

  it('remembers a key only so long, where it is told to', async () => {
    const { store, destroyElsewhere } = keyStore();
    const vault = createVault(store, aes256gcm, 5);
    await vault.create('toys.box-1');
    const sealed = await vault.sealBytes('toys.box-1', Buffer.from('a note'));
    expect(Buffer.from((await vault.openBytes('toys.box-1', sealed!))!).toString()).to.equal('a note');
    destroyElsewhere('toys.box-1');
    await eventually(async () => (await vault.openBytes('toys.box-1', sealed!)) === undefined);
    const [keys] = vault.caches;
    expect(keys?.bytes()).to.equal(0);
  });

  it('does not keep a key that was on its way when it was destroyed elsewhere', async () => {
    const keys = keyStore();
    const [here, elsewhere] = [createVault(keys.store, aes256gcm), createVault(keys.store, aes256gcm)];
    await elsewhere.create('toys.box-1');
    const sealed = (await elsewhere.seal('toys.box-1', { note: 'for Ada' })) ?? '';
    const release = keys.hold();
    const opening = here.open('toys.box-1', sealed);
    keys.destroyElsewhere('toys.box-1');
    here.forget('toys.box-1');
    release();
    await opening;
    expect(await here.open('toys.box-1', sealed)).to.equal(undefined);
    expect(here.caches.reduce((sum, { bytes }) => sum + bytes(), 0)).to.equal(0);
  });

  it('asks for a key once for all that is opened at the time, and again for what is opened after its end', async () => {
    const { store, asked, destroyElsewhere, hold } = keyStore();
    const [vault, reader] = [createVault(store, aes256gcm), createVault(store, aes256gcm)];
    await vault.create('toys.box-1');
    const sealed = await Promise.all([1, 2, 3].map((n) => vault.seal('toys.box-1', { n })));
    const release = hold();
    const opening = sealed.map((each) => reader.open('toys.box-1', each ?? ''));
    destroyElsewhere('toys.box-1');
    reader.forget('toys.box-1');
    const late = reader.open('toys.box-1', sealed[0] ?? '');
    release();
    expect(await Promise.all(opening)).to.deep.equal([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(await late).to.equal(undefined);
    expect(asked).to.deep.equal(['toys.box-1', 'toys.box-1']);
  });
});
