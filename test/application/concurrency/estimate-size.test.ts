/** What values are counted as in memory: with all that is in them, of long lists by a few of their items. */
import { expect } from 'chai';
import fc from 'fast-check';
import { estimateBytes } from '../../../application/concurrency/estimate-size.js';
import { createPlaintextCache } from '../../../application/secrets/vault.js';
import { PersistentMap } from '../../../domain/shared/persistent-map.js';

describe('what a value is counted as', () => {
  it('grows by every character of a text', () =>
    expect(estimateBytes('x'.repeat(1000)) - estimateBytes('')).to.equal(1000));

  it('is for a text beyond Latin twice its characters, as all of them take two bytes', () => {
    expect(estimateBytes('é'.repeat(1000)) - estimateBytes('')).to.equal(1000);
    for (const text of ['ж'.repeat(1000), `${'x'.repeat(999)}€`])
      expect(estimateBytes(text) - estimateBytes('')).to.equal(2000);
  });

  it('is more than nothing, and least for what holds nothing', () => {
    for (const least of [null, undefined, true]) expect(estimateBytes(least)).to.equal(8);
    for (const more of [0, 1n, '', [], {}, new Map()]) expect(estimateBytes(more), typeof more).to.equal(32);
  });

  it('is for a list, an object and a Map that of all they hold, keys of Maps included', () => {
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

  it('is for a list of like items that of one, times their number', () => {
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

  it('is counted of the first items only, however many there are', () => {
    const looked: number[] = [];
    const items = Array.from({ length: 100 }, (_, at) => ({
      get name() {
        looked.push(at);
        return 'x';
      },
    }));
    estimateBytes(items);
    expect(new Set(looked)).to.have.property('size', 16);
  });
});

describe('secrets that were opened', () => {
  const secret = (note: string) => ({ note });

  it('are found for their subject alone', () => {
    const opened = createPlaintextCache(100_000);
    opened.set('toys.box-1', 'sealed', secret('for Ada'));
    expect(opened.get('toys.box-1', 'sealed')).to.deep.equal(secret('for Ada'));
    expect(opened.get('toys.box-2', 'sealed')).to.equal(undefined);
    expect(opened.get('toys.box-1', 'other')).to.equal(undefined);
  });

  it('are forgotten with their subject, and no others', () => {
    const opened = createPlaintextCache(100_000);
    for (const sealed of ['a', 'b']) opened.set('toys.box-1', sealed, secret(sealed));
    opened.set('toys.box-2', 'c', secret('c'));
    opened.forget('toys.box-1');
    for (const sealed of ['a', 'b']) expect(opened.get('toys.box-1', sealed)).to.equal(undefined);
    expect(opened.get('toys.box-2', 'c')).to.deep.equal(secret('c'));
    opened.forget('toys.box-1');
    opened.delete('c');
    expect(opened.get('toys.box-2', 'c')).to.equal(undefined);
    expect(opened.bytes()).to.equal(0);
  });

  it('take no more than their bound, and give it back', () => {
    const opened = createPlaintextCache(5000);
    for (let index = 0; index < 100; index++) {
      opened.set('toys.box-1', `sealed-${index}`, secret('x'.repeat(100)));
      expect(opened.bytes()).to.be.at.most(5000);
    }
    expect(opened.bytes()).to.be.greaterThan(800 + 100);
    expect(opened.get('toys.box-1', 'sealed-99')).to.deep.equal(secret('x'.repeat(100)));
    expect(opened.get('toys.box-1', 'sealed-0')).to.equal(undefined);
    opened.forget('toys.box-1');
    expect(opened.bytes()).to.equal(0);
  });

  it('that are too large to be kept are not', () => {
    const opened = createPlaintextCache(1000);
    opened.set('toys.box-1', 'sealed', secret('x'.repeat(2000)));
    expect(opened.get('toys.box-1', 'sealed')).to.equal(undefined);
    expect(opened.bytes()).to.equal(0);
  });
});
