/** Bodies posted to ingest, in all their forms, whole and broken. */
import { expect } from 'chai';
import fc from 'fast-check';
import { RECORD_BYTES, readBody } from '../../../application/logs/body.js';
import { record } from '../../domain/logs/arbitrary.js';

const dataOf = (text: string, json = false) => readBody(text, json)?.records.map(({ data }) => data);

describe('a body', () => {
  it('gives the same records as NDJSON, as an array and as {logs}', () => {
    fc.assert(
      fc.property(fc.array(record, { minLength: 1, maxLength: 8 }), (records) => {
        const want = JSON.parse(JSON.stringify(records));
        const ndjson = records.map((each) => JSON.stringify(each)).join('\n');
        expect(dataOf(ndjson)).to.deep.equal(want);
        expect(dataOf(`\n${ndjson.replaceAll('\n', '\r\n\r\n')}\r\n`)).to.deep.equal(want);
        expect(dataOf(JSON.stringify(records), true)).to.deep.equal(want);
        expect(dataOf(JSON.stringify(records, null, 2), true)).to.deep.equal(want);
        expect(dataOf(JSON.stringify({ logs: records }), true)).to.deep.equal(want);
      }),
    );
  });

  it('may be one object, written over many lines', () => {
    expect(dataOf('{"a": {"b": 1}}', true)).to.deep.equal([{ a: { b: 1 } }]);
    expect(dataOf('{"a": {"b": 1},\n "c": 2\n}', true)).to.deep.equal([{ a: { b: 1 }, c: 2 }]);
  });

  it('loses only the lines that are no objects, and says which', () => {
    const body = readBody('{"a":1}\nnot json\n[1]\n\n{"b":2}\n{"half":', false);
    expect(body?.records.map(({ data }) => data)).to.deep.equal([{ a: 1 }, { b: 2 }]);
    expect(body?.rejected).to.equal(3);
    expect(body?.errors.map(({ line }) => line)).to.deep.equal([2, 3, 6]);
  });

  it('tells the first 20 errors and counts all', () => {
    const body = readBody('x\n'.repeat(50), false);
    expect([body?.rejected, body?.errors.length]).to.deep.equal([50, 20]);
  });

  it('rejects records over 64 KiB and those nested beyond reason', () => {
    const large = JSON.stringify({ text: 'é'.repeat(RECORD_BYTES / 2) });
    const deep = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`;
    const body = readBody(`${large}\n${deep}\n{"ok":true}`, false);
    expect(body?.errors.map(({ line }) => line)).to.deep.equal([1, 2]);
    expect(body?.records).to.have.length(1);
    expect(
      readBody(`[${'['.repeat(9000)}${']'.repeat(9000)},${large},{"ok":true}]`, true)?.records,
    ).to.have.length(1);
  });

  it('is nothing when it was announced as JSON and is none', () => {
    expect(readBody('hello', true)).to.equal(undefined);
    expect(readBody('{"a":', true)).to.equal(undefined);
    expect(readBody('{"a":1}\n{"b":2}', true)?.records).to.have.length(2);
  });

  it('may be empty', () => {
    for (const text of ['', ' \r\n\n'])
      expect(readBody(text, true)).to.deep.equal({ records: [], rejected: 0, errors: [] });
  });
});
