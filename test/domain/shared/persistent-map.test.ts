/** An immutable map: behaves like a Map and leaves former versions unchanged. */
import { expect } from 'chai';
import fc from 'fast-check';
import { PersistentMap } from '../../../domain/shared/persistent-map.js';

describe('a persistent map', () => {
  it('equals a Map after the same changes, and leaves every former version unchanged', () => {
    const key = fc.oneof(fc.constantFrom('a', 'b', 'costarring', 'liquid'), fc.string({ maxLength: 3 }));
    const change = fc.record({ key, value: fc.option(fc.integer(), { nil: undefined }) });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
        const like = new Map<string, number>();
        let map = PersistentMap.empty<number>();
        const former: [PersistentMap<number>, [string, number][]][] = [];
        for (const { key, value } of changes) {
          former.push([map, [...like]]);
          if (value === undefined) like.delete(key);
          else like.set(key, value);
          map = value === undefined ? map.delete(key) : map.set(key, value);
        }
        former.push([map, [...like]]);
        for (const [then, entries] of former) {
          expect(then.size).to.equal(entries.length);
          expect([...then]).to.have.deep.members(entries);
          for (const [key, value] of entries) expect(then.get(key)).to.equal(value);
        }
        for (const [then] of former) {
          const since = [...map.since(then)];
          expect([...map]).to.include.deep.members(since);
          const other = [...map].filter(([key, value]) => then.get(key) !== value);
          expect(since).to.include.deep.members(other);
        }
        expect([...map.since(map)]).to.deep.equal([]);
        expect(map.has('never set')).to.equal(false);
        expect([...map.values()]).to.have.members([...like.values()]);
      }),
    );
  });

  it('distinguishes keys with equal hashes', () => {
    const same = ['costarring', 'liquid', 'declinate', 'macallums', 'altarage', 'zinke'];
    const many = Array.from({ length: 20_000 }, (_, index) => `key ${index}`);
    const map = [...same, ...many].reduce((all, each) => all.set(each, each), PersistentMap.empty<string>());
    expect(map.size).to.equal(same.length + many.length);
    for (const each of [...same, ...many]) expect(map.get(each)).to.equal(each);
    const less = same.reduce((all, each) => all.delete(each), map);
    expect(less.size).to.equal(many.length);
    expect(less.get('liquid')).to.equal(undefined);
  });

  it('finds the entries set since an empty or small version', () => {
    let map = PersistentMap.empty<number>().set('first', 0);
    const small = map;
    const set = Array.from({ length: 1000 }, (_, n) => [`key ${n}`, n] as const);
    for (const [key, n] of set) map = map.set(key, n);
    expect([...map.since(small)]).to.include.deep.members(set);
    expect([...map.since(PersistentMap.empty<number>())]).to.have.deep.members([...map]);
    expect([...small.since(map)], 'in the opposite direction').to.deep.equal([]);
  });

  it('finds the entries set since a version with many entries', () => {
    let map = PersistentMap.empty<number>();
    for (let n = 0; n < 20_000; n++) map = map.set(`key ${n}`, n);
    const since = [...map.set('key 7', 70).set('one more', 1).since(map)];
    expect(since).to.have.deep.members([
      ['key 7', 70],
      ['one more', 1],
    ]);
  });
});
