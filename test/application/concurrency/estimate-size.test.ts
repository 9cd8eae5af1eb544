/** Memory estimates of values: everything they hold, with long lists extrapolated from a few items. */
import { expect } from 'chai';
import fc from 'fast-check';
import { estimateBytes } from '../../../application/concurrency/limiters.js';
import { createPlaintextCache } from '../../../application/secrets/vault.js';
import { PersistentMap } from '../../../domain/shared/persistent-map.js';

describe('a memory estimate', () => {
  it('grows by one byte per Latin-1 character', () =>
    expect(estimateBytes('x'.repeat(1000)) - estimateBytes('')).to.equal(1000));

  it('grows by two bytes per character if any is beyond Latin-1', () => {
    expect(estimateBytes('é'.repeat(1000)) - estimateBytes('')).to.equal(1000);
    for (const text of ['ж'.repeat(1000), `${'x'.repeat(999)}€`])
      expect(estimateBytes(text) - estimateBytes('')).to.equal(2000);
  });

  it('has a minimum, which is lowest for primitives without content', () => {
    for (const least of [null, undefined, true]) expect(estimateBytes(least)).to.equal(8);
    for (const more of [0, 1n, '', [], {}, new Map()]) expect(estimateBytes(more), typeof more).to.equal(32);
  });

  it('sums the contents of arrays, objects and maps, including map keys', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 20 }), { maxLength: 16 }), (texts) => {
        const held = texts.reduce((sum, text) => sum + estimateBytes(text), 0);
        expect(estimateBytes(texts)).to.equal(estimateBytes([]) + held);
        const named = Object.fromEntries(texts.map((text, at) => [`m${at}`, text]));
        expect(estimateBytes(named)).to.equal(estimateBytes({}) + held);
        const pairs = texts.map((text, at) => [at, text] as const);
        const inPairs = pairs.reduce((sum, pair) => sum + estimateBytes(pair), 0);
        expect(estimateBytes(new Map(pairs))).to.equal(estimateBytes(new Map()) + inPairs + 40 * texts.length);
      }),
    );
  });

  it('extrapolates lists of equal items exactly', () => {
    for (const length of [16, 17, 1000]) {
      const items = Array.from({ length }, () => 'x'.repeat(68));
      expect(estimateBytes(items)).to.equal(32 + 100 * length);
      expect(estimateBytes(new Map(items.map((item, at) => [at, item])))).to.equal(
        32 + length * (40 + estimateBytes([0, items[0]])),
      );
      const persistent = items.reduce(
        (map, item, at) => map.set(String(at).padStart(4, '0'), item),
        PersistentMap.empty<string>(),
      );
      expect(estimateBytes(persistent)).to.equal(32 + length * (40 + estimateBytes(['0000', items[0]])));
    }
  });

  it('inspects only the first 16 items', () => {
    const inspected: number[] = [];
    const items = Array.from({ length: 100 }, (_, at) => ({
      get name() {
        inspected.push(at);
        return 'x';
      },
    }));
    estimateBytes(items);
    expect(new Set(inspected)).to.have.property('size', 16);
  });
});

describe('the plaintext cache', () => {
  const secret = (note: string) => ({ note });

  it('finds a secret only under its subject', () => {
    const cache = createPlaintextCache(100_000);
    cache.set('toys.box-1', 'sealed', secret('for Ada'));
    expect(cache.get('toys.box-1', 'sealed')).to.deep.equal(secret('for Ada'));
    expect(cache.get('toys.box-2', 'sealed')).to.equal(undefined);
    expect(cache.get('toys.box-1', 'other')).to.equal(undefined);
  });

  it('forgets the secrets of one subject only', () => {
    const cache = createPlaintextCache(100_000);
    for (const sealed of ['a', 'b']) cache.set('toys.box-1', sealed, secret(sealed));
    cache.set('toys.box-2', 'c', secret('c'));
    cache.forget('toys.box-1');
    for (const sealed of ['a', 'b']) expect(cache.get('toys.box-1', sealed)).to.equal(undefined);
    expect(cache.get('toys.box-2', 'c')).to.deep.equal(secret('c'));
    cache.forget('toys.box-1');
    cache.delete('c');
    expect(cache.get('toys.box-2', 'c')).to.equal(undefined);
    expect(cache.bytes()).to.equal(0);
  });

  it('stays within its bound, and frees its memory', () => {
    const cache = createPlaintextCache(5000);
    for (let index = 0; index < 100; index++) {
      cache.set('toys.box-1', `sealed-${index}`, secret('x'.repeat(100)));
      expect(cache.bytes()).to.be.at.most(5000);
    }
    expect(cache.bytes()).to.be.greaterThan(800 + 100);
    expect(cache.get('toys.box-1', 'sealed-99')).to.deep.equal(secret('x'.repeat(100)));
    expect(cache.get('toys.box-1', 'sealed-0')).to.equal(undefined);
    cache.forget('toys.box-1');
    expect(cache.bytes()).to.equal(0);
  });

  it('does not cache a secret larger than its bound', () => {
    const cache = createPlaintextCache(1000);
    cache.set('toys.box-1', 'sealed', secret('x'.repeat(2000)));
    expect(cache.get('toys.box-1', 'sealed')).to.equal(undefined);
    expect(cache.bytes()).to.equal(0);
  });
});
