/** Index terms of fields below empty and numeric keys, and in arrays: a filter that matches a record has no other terms than the record. */
import { expect } from 'chai';
import { type Filter, matches } from '../../../domain/logs/filter.js';
import { termsOfFilter } from '../../../domain/logs/index-terms.js';
import { normalizeRecord } from '../../../domain/logs/record.js';
import { termsOf } from './arbitrary.js';

describe('a field below empty keys or in arrays', () => {
  for (const [path, data] of [
    ['..a', { '': { '': { a: 'x' } } }],
    ['0..a', { 0: { '': { a: 'x' } } }],
    ['..a', { '': { '.a': 'x' } }],
    ['tags.1', { tags: ['y', 'x'] }],
    ['a.0.b', { a: [{ b: 'x' }] }],
  ] as const)
    it(`is found as ${path} in ${JSON.stringify(data)}`, () => {
      const filter: Filter = { fields: [{ path, value: 'x' }], words: [] };
      const record = normalizeRecord(data as never, 'api', 0);
      expect(matches(filter, record)).to.equal(true);
      const terms = new Set<number>();
      termsOf(record, (term) => terms.add(term));
      for (const term of termsOfFilter(filter)) expect([...terms]).to.include(term);
    });
});
