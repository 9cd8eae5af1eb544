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
});
