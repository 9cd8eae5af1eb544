/** The language of the log explorer's query bar, its time ranges and its JSON, without a browser. */
import { expect } from 'chai';
import fc from 'fast-check';
import { importWeb } from '../support/web-module.js';

interface Condition {
  readonly kind: string;
  readonly name: string;
  readonly value: string;
  readonly negated: boolean;
}
interface Term extends Condition {
  readonly start: number;
  readonly end: number;
}
interface Completed {
  readonly text: string;
  readonly caret: number;
}
interface Scale {
  readonly start: number;
  readonly bars: number;
  readonly widthMs: number;
  readonly intervalMs: number;
}
interface Modules {
  parseTerms(text: string): readonly Term[];
  formatCondition(condition: Condition): string;
  hasCondition(text: string, condition: Condition): boolean;
  addCondition(text: string, condition: Condition): string;
  removeCondition(text: string, condition: Condition): string;
  withFieldWords(text: string): string | undefined;
  completionAt(text: string, caret: number): { readonly typed: string; readonly term?: Term };
  completeName(text: string, point: object, name: string, isField: boolean): Completed;
  completeValue(text: string, point: object, value: string): Completed;
  relativeRange(text: string): { readonly ms: number } | undefined;
  scaleOf(bounds: { readonly from: number; readonly to: number }): Scale;
  barsOf(buckets: readonly { readonly key: string; readonly count: number }[], scale: Scale): readonly number[];
  ticksOf(scale: Scale, most: number): readonly { readonly share: number }[];
  parseExact(text: string): unknown;
  stringifyExact(value: unknown): string;
  leafPaths(value: unknown): readonly string[];
  valuesAt(value: unknown, path: string): readonly string[];
  jsonLines(value: unknown): readonly {
    readonly text: string;
    readonly leaf?: { readonly path: string; readonly value: string };
  }[];
}

const field = (name: string, value: string, negated = false): Condition => ({ kind: 'field', name, value, negated });
const own = (name: string, value: string, negated = false): Condition => ({ kind: name, name, value, negated });

describe('state of the log explorer', () => {
  let web: Modules;
  before(async () => {
    web = await importWeb<Modules>(
      'logs/query/syntax.ts',
      'logs/query/edit.ts',
      'logs/query/completion.ts',
      'logs/time/range.ts',
      'logs/time/bars.ts',
      'logs/api/exact-json.ts',
      'logs/record/json-lines.ts',
      'logs/explore/fields.ts',
    );
  });

  const text = fc.oneof(
    fc.string({ maxLength: 30 }),
    fc.constantFrom('a b', 'say "hi"', '\\', 'http://x', '12:30', ''),
  );
  const condition: fc.Arbitrary<Condition> = fc.oneof(
    fc.record({
      kind: fc.constant('field'),
      name: fc.oneof(fc.string({ minLength: 1, maxLength: 10 }), fc.constantFrom('event', 'user.id', 'a b')),
      value: text,
      negated: fc.boolean(),
    }),
    fc.tuple(fc.constantFrom('event', 'producer'), text, fc.boolean()).map(([name, value, no]) => own(name, value, no)),
  );

  it('reads back each condition that it writes, among others', () =>
    fc.assert(
      fc.property(condition, condition, (one, two) => {
        const written = `${web.formatCondition(one)} words ${web.formatCondition(two)}`;
        const read = web.parseTerms(written).map(({ kind, name, value, negated }) => ({ kind, name, value, negated }));
        expect(read).to.deep.equal([one, { kind: 'word', name: '', value: 'words', negated: false }, two]);
      }),
    ));

  it('reads any text, its terms in order', () =>
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab:"-\\ ,') }), (text) => {
        let last = 0;
        for (const { start, end } of web.parseTerms(text)) {
          expect(start).to.be.at.least(last);
          expect(end).to.be.greaterThan(start);
          last = end;
        }
      }),
    ));

  it('adds a condition once, and removes it without touching the others', () =>
    fc.assert(
      fc.property(condition, condition, (one, two) => {
        fc.pre(one.kind !== two.kind || one.name !== two.name);
        const before = web.formatCondition(one);
        const added = web.addCondition(before, two);
        expect(web.hasCondition(added, one) && web.hasCondition(added, two)).to.equal(true);
        expect(web.addCondition(added, two)).to.equal(added);
        expect(web.removeCondition(added, two)).to.equal(before);
      }),
    ));

  it('replaces the opposite, single values, and lists levels', () => {
    expect(web.addCondition('a event:x b', own('event', 'y'))).to.equal('a b event:y');
    expect(web.addCondition('-user.id:1', field('user.id', '1'))).to.equal('user.id:1');
    expect(web.addCondition('user.id:1', field('user.id', '2', true))).to.equal('user.id:1 -user.id:2');
    expect(web.addCondition('level:error x', own('level', 'WARN'))).to.equal('x level:ERROR,WARN');
    expect(web.addCondition('level:error,warn', own('level', 'WARN', true))).to.equal('level:ERROR -level:WARN');
    expect(web.removeCondition('level:error,warn', own('level', 'ERROR'))).to.equal('level:WARN');
    expect(web.removeCondition('level:warn', own('level', 'WARN'))).to.equal('');
  });

  it('turns words with an equals sign into conditions, and leaves others', () => {
    expect(web.withFieldWords('a user.id=5 level==info x.y="b c" -d=1')).to.equal(
      'a user.id:5 level:info x.y:"b c" -d=1',
    );
    for (const text of ['', 'a=', 'user.id:5', '"a=b"', '/x?id=5'])
      expect(web.withFieldWords(text)).to.equal(undefined);
  });

  it('takes addresses and times of day as words', () => {
    for (const word of ['http://example.com/a', '12:30'])
      expect(web.parseTerms(word).map(({ kind, value }) => [kind, value])).to.deep.equal([['word', word]]);
  });

  it('completes at the caret and keeps what is around it', () => {
    const name = (text: string, caret: number, chosen: string, isField = false) =>
      web.completeName(text, web.completionAt(text, caret), chosen, isField);
    const value = (text: string, caret: number, chosen: string) =>
      web.completeValue(text, web.completionAt(text, caret), chosen);
    expect(name('ev', 2, 'event')).to.deep.equal({ text: 'event:', caret: 6 });
    expect(name('a -pro b', 6, 'producer')).to.deep.equal({ text: 'a -producer: b', caret: 12 });
    expect(name('a b', 1, 'my field', true).text).to.equal('"my field": b');
    expect(value('event:pay', 9, 'payment failed')).to.deep.equal({ text: 'event:"payment failed" ', caret: 23 });
    expect(value('level:error,wa', 14, 'WARN').text).to.equal('level:error,WARN ');
    expect(value('level:er,warn x', 8, 'ERROR').text).to.equal('level:ERROR,warn x');
    expect(web.completionAt('event:pay', 9)).to.include({ typed: 'pay' });
  });

  it('reads relative ranges only in known units', () => {
    expect(web.relativeRange('15m')?.ms).to.equal(900_000);
    expect(web.relativeRange('2w')?.ms).to.equal(14 * 86_400_000);
    for (const wrong of ['', '0h', '5', 'h', '1.5h', '99999h', '5y'])
      expect(web.relativeRange(wrong), wrong).to.equal(undefined);
  });

  it('divides any range into a bounded number of bars that lose no record', () =>
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4e12 }),
        fc.integer({ min: 0, max: 4e11 }),
        fc.integer({ min: 0, max: 1000 }),
        (from, length, share) => {
          const to = from + length;
          const scale = web.scaleOf({ from, to });
          expect(scale.bars).to.be.within(1, 122);
          expect(scale.widthMs % scale.intervalMs).to.equal(0);
          const at = Math.floor(from + (length * share) / 1000);
          const key = new Date(Math.floor(at / scale.intervalMs) * scale.intervalMs).toISOString();
          const bars = web.barsOf([{ key, count: 3 }], scale);
          expect(bars.reduce((sum, each) => sum + each, 0)).to.equal(3);
          for (const { share: place } of web.ticksOf(scale, 8)) expect(place).to.be.within(0, 1);
          expect(web.ticksOf(scale, 8).length).to.be.at.most(9);
        },
      ),
    ));

  it('names the path of each value of a record', () => {
    const lines = web.jsonLines({ a: [{ b: 1 }, 'x'], c: {}, d: null });
    expect(lines.flatMap(({ leaf }) => (leaf ? [`${leaf.path}=${leaf.value}`] : []))).to.deep.equal([
      'a.b=1',
      'a=x',
      'd=null',
    ]);
    expect(lines.map(({ text }) => text).join('')).to.equal('{[{1}"x"]{}null}');
  });

  it('finds the values at the path of a field', () => {
    const record = { a: [{ b: 1 }, { b: 'x' }], c: { d: null } };
    expect(web.leafPaths(record)).to.deep.equal(['a.b', 'a.b', 'c.d']);
    expect(web.valuesAt(record, 'a.b')).to.deep.equal(['1', 'x']);
    expect(web.valuesAt(record, 'a')).to.deep.equal([]);
    expect(web.valuesAt({ 'a.b': [{ c: 1 }, { c: 2 }] }, 'a.b.c')).to.deep.equal(['1', '2']);
  });

  it('writes JSON as it was, numbers beyond a double included', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        expect(JSON.parse(web.stringifyExact(web.parseExact(json)))).to.deep.equal(JSON.parse(json));
      }),
    );
    expect(web.parseExact('{"a":"\\u00010"}')).to.deep.equal({ a: '\u00010' });
  });
});
