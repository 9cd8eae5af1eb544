/** Entries of the transparency log; anything else is rejected, as exports come from anywhere. */
import { expect } from 'chai';
import { parseAuditEntry, positionOf } from '../../../application/audit/log-entry.js';

const parse = (text: string) => parseAuditEntry(Buffer.from(text));

describe('an entry of the transparency log', () => {
  it('is that of an event, a key or a restart', () => {
    expect(positionOf(parse('{"position":"9007199254740993","stream":"toys.toy-1"}')!)).to.equal(9007199254740993n);
    expect(positionOf(parse('{"restart":"17"}')!)).to.equal(17n);
    expect(positionOf(parse('{"key":"annals+174ecef3+AQ"}')!)).to.equal(undefined);
  });

  it('is nothing else', () => {
    for (const text of [
      '',
      'null',
      '[]',
      '{}',
      '{"position":17}',
      '{"position":"1.5"}',
      '{"position":""}',
      '{"restart":"x"}',
    ])
      expect(parse(text), text).to.equal(undefined);
    expect(parse('{"position":"17","key":"annals+174ecef3+AQ"}')).to.equal(undefined);
  });
});
