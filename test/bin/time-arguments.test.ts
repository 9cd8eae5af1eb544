/** Times as command-line arguments: parsed as by the log service; ambiguous ones are refused. */
import { expect } from 'chai';
import { InvalidArgumentError } from 'commander';
import { instant } from '../../bin/commands/argument-parsers.js';

const from = instant(false);
const to = instant(true);

describe('time arguments', () => {
  it('accept dates as whole days, ISO times in UTC by default, and Unix ms', () => {
    expect(from('2026-11-22')).to.equal(Date.UTC(2026, 10, 22));
    expect(to('2026-11-22')).to.equal(Date.UTC(2026, 10, 23) - 1);
    for (const read of [from, to]) {
      expect(read('2026-11-22T12:00')).to.equal(Date.UTC(2026, 10, 22, 12));
      expect(read('2026-11-22T12:00:00+02:00')).to.equal(Date.UTC(2026, 10, 22, 10));
      expect(read('1795321797250')).to.equal(1_795_321_797_250);
    }
  });

  it('accept ages', () => {
    const before = Date.now() - 15 * 60_000;
    expect(from('15m')).to.be.within(before, Date.now() - 15 * 60_000);
    expect(from('2d')).to.be.within(before - 2 * 86_400_000, Date.now() - 2 * 86_400_000);
  });

  it('refuse ambiguous times and dates that do not exist', () => {
    for (const text of ['', 'yesterday', 'last week 1', '1 nov', '2026-11', '2026-02-30', '1x', '-5m'])
      expect(() => from(text), text).to.throw(InvalidArgumentError, /ISO 8601/);
  });
});
