/** Parsing of ingest bodies in all formats, valid and invalid. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  type BodyFormat,
  MAX_RECORDS,
  type ParsedBody,
  parseBody,
  RECORD_BYTES,
} from '../../../../application/logs/ingest/parse-body.js';
import { Abandoned, untilAborted } from '../../../../application/logs/query/query-budget.js';
import { record } from '../../../domain/logs/arbitrary.js';

const MEBI = 1024 * 1024;

const read = async (text: string, announced: BodyFormat = 'anything') => {
  const body = await parseBody(text, announced, 'api');
  if (typeof body === 'string') throw new Error(body);
  return body;
};
const textsOf = async (text: string, announced?: BodyFormat) =>
  (await read(text, announced)).records.map(({ json }) => json);
const dataOf = async (text: string, announced?: BodyFormat) =>
  (await textsOf(text, announced)).map((json) => JSON.parse(json));
const linesOf = (body: ParsedBody) => body.errors.map(({ line }) => line);

describe('an ingest body', () => {
  it('gives the same records as NDJSON, as an array and as {logs}', () =>
    fc.assert(
      fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 8 }), async (records) => {
        const want = JSON.parse(JSON.stringify(records));
        const ndjson = records.map((each) => JSON.stringify(each)).join('\n');
        for (const announced of ['lines', 'anything', 'json'] as const) {
          expect(await dataOf(ndjson, announced)).to.deep.equal(want);
          expect(await dataOf(`\n${ndjson.replaceAll('\n', '\r\n\r\n')}\r\n`, announced)).to.deep.equal(want);
          expect(await dataOf(JSON.stringify(records), announced)).to.deep.equal(want);
        }
        expect(await dataOf(JSON.stringify(records, null, 2), 'json')).to.deep.equal(want);
        expect(await dataOf(JSON.stringify({ a: [1], logs: records }, null, 1), 'json')).to.deep.equal(want);
      }),
    ));

  it('can be one object over several lines', async () => {
    for (const announced of ['lines', 'anything', 'json'] as const) {
      expect(await dataOf('{"a": {"b": 1}}', announced)).to.deep.equal([{ a: { b: 1 } }]);
      expect(await dataOf('\uFEFF{"a": {"b": 1},\n "c": 2\n}\n', announced)).to.deep.equal([{ a: { b: 1 }, c: 2 }]);
    }
  });

  it('can contain records with a member "logs" when sent as lines', async () => {
    const record = '{"logs":[{"a":1},{"a":2}]}';
    expect(await textsOf(record, 'lines')).to.deep.equal([record]);
    expect(await textsOf(`${record}\n`, 'lines')).to.deep.equal([record]);
    expect(await textsOf(`${record}\n${record}`)).to.deep.equal([record, record]);
    expect(await textsOf(record, 'json')).to.deep.equal(['{"a":1}', '{"a":2}']);
    expect(await textsOf('{"logs":"of today"}', 'json')).to.deep.equal(['{"logs":"of today"}']);
  });

  it('drops only lines that are not objects, and reports their numbers', async () => {
    const body = await read('{"a":1}\nnot json\n[1]\n\n{"b":2}\n{"half":');
    expect(body.records.map(({ json }) => json)).to.deep.equal(['{"a":1}', '{"b":2}']);
    expect(body.rejected).to.equal(3);
    expect(linesOf(body)).to.deep.equal([2, 3, 6]);
    expect(linesOf(await read('[{"a":1}, 5, {"b":2}, "x"]', 'json'))).to.deep.equal([2, 4]);
  });

  it('reports the first 20 errors and counts all', async () => {
    const body = await read('x\n'.repeat(50));
    expect([body.rejected, body.errors.length]).to.deep.equal([50, 20]);
  });

  it('rejects records over 64 KiB or nested too deeply', async () => {
    const large = JSON.stringify({ text: 'é'.repeat(RECORD_BYTES / 2) });
    const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
    const body = await read(`${large}\n${deep}\n{"ok":true}`);
    expect(linesOf(body)).to.deep.equal([1, 2]);
    expect(body.records).to.have.length(1);
    const nested = `[${'['.repeat(9000)}${']'.repeat(9000)},${large},{"ok":true}]`;
    expect((await read(nested, 'json')).records).to.have.length(1);
  });

  it('accepts a record of exactly 64 KiB, not counting whitespace', async () => {
    const of = (bytes: number) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) });
    for (const [bytes, taken] of [
      [RECORD_BYTES, 1],
      [RECORD_BYTES + 1, 0],
    ] as const) {
      expect((await read(JSON.stringify(of(bytes)))).records).to.have.length(taken);
      expect((await read(JSON.stringify([of(bytes)], null, 9), 'json')).records).to.have.length(taken);
    }
  });

  it('accepts at most 50,000 records in any format', async () => {
    for (const [most, expected] of [
      [MAX_RECORDS, MAX_RECORDS],
      [MAX_RECORDS + 1, 'too-many'],
    ] as const) {
      const all = Array<string>(most).fill('{}');
      for (const text of [all.join('\n'), `[${all.join()}]`, `{"logs":[${all.join()}]}`]) {
        const body = await parseBody(text, 'anything', 'api');
        expect(typeof body === 'string' ? body : body.records.length).to.equal(expected);
      }
    }
  });

  it('is rejected if it was declared as JSON and is not', async () => {
    for (const text of ['hello', '{"a":', '[{"a":1}', '[{"a":1},]', '[{"a":1}] x', '{"a":1}}', '[{"a":01}]'])
      expect(await parseBody(text, 'json', 'api'), text).to.equal('not-json');
    expect((await read('{"a":1}\n{"b":2}', 'json')).records).to.have.length(2);
  });

  for (const [shape, text] of Object.entries({
    'one long string': `{"a":"${'x'.repeat(MEBI)}"}`,
    'one string of escapes': `{"a":"${'\\u0041'.repeat(MEBI / 6)}"}`,
    'arrays without end': `{"a":${'['.repeat(MEBI)}`,
    'arrays in arrays': `{"a":${'['.repeat(MEBI / 2)}${']'.repeat(MEBI / 2)}}`,
    'many small members': `{${'"a":[],'.repeat(MEBI / 7)}"a":[]}`,
    'one member of many': `{"logs":[{"a":[${'0,'.repeat(MEBI / 2)}0]}]}`,
    'blank lines': '\n'.repeat(MEBI),
  }))
    it(`is parsed without blocking the event loop: ${shape}`, async () => {
      let pauses = 0;
      await parseBody(text, 'anything', 'api', () => void pauses++);
      // At least one pause for every 64 KiB.
      expect(pauses).to.be.greaterThan(MEBI / RECORD_BYTES);
    });

  it('is not parsed further when its client has disconnected', async () => {
    const disconnected = new AbortController();
    disconnected.abort();
    const reading = parseBody('{}\n{}', 'lines', 'api', untilAborted(disconnected.signal));
    expect(await reading.catch((error) => error)).to.be.instanceOf(Abandoned);
  });

  it('can be empty', async () => {
    for (const text of ['', ' \r\n\n'])
      expect(await read(text, 'json')).to.deep.equal({ records: [], rejected: 0, errors: [] });
  });

  it('preserves the digits of every number', async () => {
    const exact = '{"id":9007199254740993,"deep":[{"n":-12345678901234567890}],"pi":3.14159265358979323846}';
    const spaced = exact.replaceAll(/([:,])/g, ' $1\n ');
    for (const text of [exact, spaced, `[${spaced}]`, `{"logs":[${spaced}]}`])
      expect(await textsOf(text, 'json')).to.deep.equal([exact]);
  });

  it('overwrites only the producer id of a record', async () => {
    const of = (text: string) => textsOf(text, 'lines');
    expect(await of('{"producerId":"forged","a":1}')).to.deep.equal(['{"producerId":"api","a":1}']);
    expect(await of('{"a":{"producerId":1}, "producer":2}')).to.deep.equal(['{"a":{"producerId":1},"producer":2}']);
    expect(
      await of('{"n":9007199254740993, "producer\\u0049d" : {"x":["}"]}, "b":"\\u00e9", "producerId":null}'),
    ).to.deep.equal(['{"n":9007199254740993,"producerId":"api","b":"é","producerId":"api"}']);
  });
});
