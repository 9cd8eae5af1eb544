/** The semantics of filters, and index terms without false negatives. */
import { expect } from 'chai';
import fc from 'fast-check';
import { EVERYTHING, type Filter, isRecordFree, type Leaf, leavesAt, matches } from '../../../domain/logs/filter.js';
import { termsOfFilter } from '../../../domain/logs/index-terms.js';
import type { Json, JsonObject } from '../../../domain/logs/json.js';
import { normalizeRecord } from '../../../domain/logs/record.js';
import { tokenize } from '../../../domain/logs/tokenizer.js';
import { filter, NOON, record, termsOf } from './arbitrary.js';

const passes = (data: object, some: Partial<Filter>) =>
  matches({ ...EVERYTHING, ...some }, normalizeRecord(data as never, 'api', NOON));

describe('a filter', () => {
  it('includes both ends of its time range', () => {
    expect(passes({ timestamp: NOON }, { from: NOON, to: NOON })).to.equal(true);
    expect(passes({ timestamp: NOON }, { from: NOON + 1 })).to.equal(false);
    expect(passes({ timestamp: NOON }, { to: NOON - 1 })).to.equal(false);
  });

  it('matches levels, event, producer, correlation and audit flag', () => {
    const data = { level: 'error', event: 'paid', correlationId: 'c1', audit: true };
    const all = {
      levels: ['WARN', 'ERROR'],
      event: 'paid',
      producerId: 'api',
      correlationId: 'c1',
      audit: true,
    };
    expect(passes(data, all)).to.equal(true);
    for (const [name, value] of Object.entries(all)) expect(passes(data, { [name]: value }), name).to.equal(true);
    const others = { levels: ['INFO'], event: 'pai', producerId: 'web', correlationId: 'c', audit: false };
    for (const [name, value] of Object.entries(others)) {
      expect(passes(data, { [name]: value }), name).to.equal(false);
      expect(passes(data, { ...all, [name]: value }), name).to.equal(false);
    }
    expect(passes({}, { audit: false })).to.equal(true);
    expect(passes({}, { audit: true })).to.equal(false);
    expect(passes(data, { levels: [] })).to.equal(false);
  });

  it('leaves out excluded levels, events, producers and fields', () => {
    const data = { level: 'error', event: 'paid', tags: ['a', 'b'] };
    const none = { levels: [], events: [], producerIds: [], fields: [] };
    expect(passes(data, { not: none })).to.equal(true);
    const field = (path: string, value: string) => [{ path, value }];
    for (const not of [
      { levels: ['WARN', 'ERROR'] },
      { events: ['paid'] },
      { producerIds: ['api'] },
      { fields: field('tags', 'b') },
    ])
      expect(passes(data, { not: { ...none, ...not } }), JSON.stringify(not)).to.equal(false);
    for (const not of [
      { levels: ['WARN'] },
      { events: ['pai'] },
      { producerIds: ['web'] },
      { fields: field('tags', 'c') },
      { fields: field('other', 'a') },
    ])
      expect(passes(data, { not: { ...none, ...not } }), JSON.stringify(not)).to.equal(true);
    expect(passes({}, { not: { ...none, events: [''] } })).to.equal(true);
  });

  it('is record-free if it needs only columns', () => {
    expect(isRecordFree(EVERYTHING)).to.equal(true);
    expect(isRecordFree({ ...EVERYTHING, from: 1, to: 2, levels: ['INFO'], producerId: 'api', audit: true })).to.equal(
      true,
    );
    for (const inside of [
      { event: 'paid' },
      { correlationId: 'c1' },
      { fields: [{ path: 'a', value: '1' }] },
      { words: ['disk'] },
      { not: { levels: [], events: ['paid'], producerIds: [], fields: [] } },
      { not: { levels: [], events: [], producerIds: [], fields: [{ path: 'a', value: '1' }] } },
    ])
      expect(isRecordFree({ ...EVERYTHING, ...inside }), JSON.stringify(inside)).to.equal(false);
  });

  it('compares fields exactly, as text', () => {
    const field = (path: string, value: string) => ({ fields: [{ path, value }] });
    const data = {
      status: 200,
      http: { path: '/a' },
      tags: ['x', 'y'],
      'k8s.pod': { name: 'p' },
      none: null,
    };
    expect(passes(data, field('status', '200'))).to.equal(true);
    expect(passes(data, field('status', '20'))).to.equal(false);
    expect(passes(data, field('http.path', '/a'))).to.equal(true);
    expect(passes(data, field('http.path', '/A'))).to.equal(false);
    expect(passes(data, field('tags', 'y'))).to.equal(true);
    expect(passes(data, field('tags.1', 'y'))).to.equal(true);
    expect(passes(data, field('tags.0', 'y'))).to.equal(false);
    expect(passes(data, field('k8s.pod.name', 'p'))).to.equal(true);
    expect(passes(data, field('none', 'null'))).to.equal(true);
    expect(passes(data, field('http', '[object Object]'))).to.equal(false);
    expect(passes(data, field('constructor.name', 'Object'))).to.equal(false);
  });

  it('requires all words, in any text of the record, ignoring case', () => {
    const data = { message: 'Disk full on /dev/sda1', error: { stack: 'at Writer' } };
    expect(passes(data, { words: ['disk', 'writer'] })).to.equal(true);
    expect(passes(data, { words: ['disk', 'reader'] })).to.equal(false);
    expect(passes(data, { words: ['dis'] })).to.equal(false);
    expect(passes(data, { words: ['sda1'] })).to.equal(true);
  });

  for (const data of [{ message: 42 }, { msg: { code: 42 } }, { MESSAGE: [42] }])
    it(`finds words of the message ${JSON.stringify(data)}, which is no string`, () => {
      expect(passes(data, { words: ['42'] })).to.equal(true);
      expect(passes(data, { words: ['4'] })).to.equal(false);
    });

  it('does not look for words in other numbers', () => {
    expect(passes({ message: 'x', code: 42 }, { words: ['42'] })).to.equal(false);
  });

  it('tokenizes at everything except letters, digits and underscore', () => {
    expect(tokenize('GET /api/user_1?x=ÄÖ — „да“ 日本。')).to.deep.equal([
      'get',
      'api',
      'user_1',
      'x',
      'äö',
      'да',
      '日本',
    ]);
    // The first and last character of each range, and their neighbours outside.
    expect(tokenize('a`A[z{Z@0/9:_^\u007f\u0080\u00bf\u00c0')).to.deep.equal(['a', 'a', 'z', 'z', '0', '9', '_', 'à']);
    expect(tokenize('x\u1fffy\u2000z\u206fa\u2070b')).to.deep.equal(['x\u1fffy', 'z', 'a\u2070b']);
    expect(tokenize('x\u2fffy\u3000z\u303fa\u3040b')).to.deep.equal(['x\u2fffy', 'z', 'a\u3040b']);
    expect(tokenize('')).to.deep.equal([]);
    expect(tokenize('--')).to.deep.equal([]);
  });

  it('resolves dotted paths through arrays and names with dots', () => {
    expect(leavesAt({ a: [{ b: 1 }, { b: [2, 3] }] }, 'a.b')).to.deep.equal([1, 2, 3]);
    expect(leavesAt({ 'a.b': 1, a: { b: 2 } }, 'a.b')).to.have.members([1, 2]);
  });

  it('resolves paths like their naive definition', () => {
    const name = fc.constantFrom('a', 'b', '0', '1', '00', '', 'a.b', '0.0', '.', 'length', '__proto__');
    const tree = fc.letrec<{ tree: Json }>((tie) => ({
      tree: fc.oneof(
        { depthSize: 'medium', withCrossShrink: true },
        fc.constantFrom<Json>(1, 'x', null, true),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(name, tie('tree'), { maxKeys: 3 }),
      ),
    })).tree;
    const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => names.join('.'));
    let resolved = 0;
    fc.assert(
      fc.property(fc.dictionary(name, tree, { maxKeys: 4 }), path, (object, some) => {
        const data: JsonObject = JSON.parse(JSON.stringify(object));
        const leaves = new Set(leavesAt(data, some));
        expect(leaves).to.deep.equal(new Set(defined(data, some)));
        if (leaves.size > 0) resolved++;
      }),
      { numRuns: 3000 },
    );
    expect(resolved).to.be.greaterThan(30);
  });

  for (const [what, levels, digits] of [
    ['seven arrays in one another and five digits', 7, 5],
    ['as many arrays as a record may have and twelve digits', 62, 12],
  ] as const) {
    it(`inspects every value once: ${what}`, () => {
      let looks = 0;
      const counted = <T extends object>(value: T): T =>
        new Proxy(value, {
          get(target, key, receiver) {
            looks++;
            return Reflect.get(target, key, receiver);
          },
        });
      let nested: Json = 'leaf';
      for (let level = 0; level < levels; level++) nested = counted([nested, nested === 'leaf' ? 1 : 'x']);
      const leaves = leavesAt({ a: nested }, `a${'.0'.repeat(digits)}`);
      expect(leaves).to.include('leaf');
      expect(looks).to.be.lessThan(levels * 10);
    });
  }

  it('has only terms that every matching record has', () => {
    let passed = 0;
    fc.assert(
      fc.property(record, filter, (data, some) => {
        const one = normalizeRecord(data, 'api', NOON);
        if (!matches(some, one)) return;
        passed++;
        const terms = new Set<number>();
        termsOf(one, (term) => terms.add(term));
        for (const term of termsOfFilter(some)) expect(terms.has(term)).to.equal(true);
      }),
      { numRuns: 3000 },
    );
    expect(passed).to.be.greaterThan(50);
  });

  it('has only terms of a matching record for any of its values', () => {
    fc.assert(
      fc.property(record, (data) => {
        const one = normalizeRecord(data, 'api', NOON);
        const terms = new Set<number>();
        termsOf(one, (term) => terms.add(term));
        for (const path of paths(data)) {
          for (const leaf of leavesAt(data, path)) {
            const some = { ...EVERYTHING, fields: [{ path, value: String(leaf) }] };
            expect(matches(some, one)).to.equal(true);
            for (const term of termsOfFilter(some)) expect(terms.has(term), path).to.equal(true);
          }
        }
      }),
    );
  });
});

/** The naive definition of a dotted path. */
function defined(value: Json | undefined, path?: string): Leaf[] {
  if (value === undefined) return [];
  if (typeof value !== 'object' || value === null) return path === undefined ? [value] : [];
  const through = Array.isArray(value) ? value.flatMap((member) => defined(member, path)) : [];
  if (path === undefined) return through;
  const steps = path.split('.');
  const holder: { readonly [key: string]: Json } = Array.isArray(value)
    ? Object.fromEntries(value.entries())
    : (value as JsonObject);
  const below = steps.flatMap((_, index) => {
    const key = steps.slice(0, index + 1).join('.');
    const rest = steps.slice(index + 1);
    const next = Object.hasOwn(holder, key) ? holder[key] : undefined;
    return defined(next, rest.length > 0 ? rest.join('.') : undefined);
  });
  return [...through, ...below];
}

function paths(value: unknown, before = ''): string[] {
  if (typeof value !== 'object' || value === null) return before === '' ? [] : [before];
  return Object.entries(value).flatMap(([key, member]) => paths(member, before === '' ? key : `${before}.${key}`));
}
