/** Normalization of log records and parsing of timestamps. */
import { expect } from 'chai';
import fc from 'fast-check';
import { normalizeRecord } from '../../../domain/logs/record.js';
import { dayName, parseQueryTime, parseTimestamp, startOfDay } from '../../../domain/logs/timestamp.js';
import { record } from './arbitrary.js';

const RECEIVED = Date.UTC(2026, 0, 2);
const at = (text: string) => Date.parse(text);

describe('a timestamp', () => {
  it('is parsed from ISO 8601 with any offset, or UTC without one', () => {
    expect(parseTimestamp('2026-11-21T10:00:00Z')).to.equal(at('2026-11-21T10:00:00Z'));
    expect(parseTimestamp('2026-11-21T10:00:00.123456+02:00')).to.equal(at('2026-11-21T08:00:00.123Z'));
    expect(parseTimestamp('2026-11-21T10:00:00-0530')).to.equal(at('2026-11-21T15:30:00Z'));
    expect(parseTimestamp('2026-11-21 10:00:00,5')).to.equal(at('2026-11-21T10:00:00.500Z'));
    expect(parseTimestamp('2026-11-21T10:00')).to.equal(at('2026-11-21T10:00:00Z'));
    expect(parseTimestamp('2026-11-21')).to.equal(at('2026-11-21T00:00:00Z'));
    expect(parseTimestamp('2028-02-29T23:59:59Z')).to.equal(at('2028-02-29T23:59:59Z'));
    expect(parseTimestamp('2026-12-31')).to.equal(at('2026-12-31T00:00:00Z'));
  });

  it('is parsed from epoch seconds, milliseconds, microseconds and nanoseconds', () => {
    const ms = 1_763_719_200_123;
    for (const value of [ms, ms * 1e3, String(ms), `${ms}000`, ms / 1000]) expect(parseTimestamp(value)).to.equal(ms);
    expect(parseTimestamp(1_763_719_200)).to.equal(1_763_719_200_000);
  });

  it('is undefined for other input', () => {
    const others = [
      '',
      'yesterday',
      '2026-13-01',
      '2026-02-30',
      '2026-02-29T10:00:00Z',
      '2026-04-31 10:00:00,5',
      '2026-00-10',
      '2026-02-30T10:00:00Z',
      '2025-02-29',
      '2026-04-31 10:00:00,5 +02:00',
      '2026-01-00',
      '21/11/2026',
      '1',
      -5,
      Number.NaN,
      1e300,
      null,
      {},
      [],
      true,
    ];
    for (const value of others) expect(parseTimestamp(value), JSON.stringify(value)).to.equal(undefined);
  });

  it('allows surrounding blanks, and has a unit by magnitude, within the years 1970 to 9999', () => {
    const last = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
    expect(parseTimestamp('  2026-11-21T10:00:00Z ')).to.equal(at('2026-11-21T10:00:00Z'));
    expect(parseTimestamp('1763719200.25')).to.equal(1_763_719_200_250);
    expect(parseTimestamp(1e11 - 1)).to.equal((1e11 - 1) * 1000);
    expect([parseTimestamp(1e11), parseTimestamp(1e14), parseTimestamp(1e17)]).to.deep.equal([1e11, 1e11, 1e11]);
    expect([parseTimestamp(0), parseTimestamp('1970-01-01')]).to.deep.equal([0, 0]);
    expect(parseTimestamp('1969-12-31T23:59:59.999Z')).to.equal(undefined);
    expect(parseTimestamp('9999-12-31T23:59:59.999Z')).to.equal(last);
    for (const text of ['10000-01-01', '9999-12-31T23:59:59.999-00:01', 'x1763719200', '1763719200x'])
      expect(parseTimestamp(text)).to.equal(undefined);
    expect(parseTimestamp('2026-11-21T10:00:00+02')).to.equal(at('2026-11-21T08:00:00Z'));
    expect(parseTimestamp('2026-11-21T10:00:00z')).to.equal(at('2026-11-21T10:00:00Z'));
    expect(parseTimestamp(`2026-11-21T10:00:00Z${' '.repeat(20)}`)).to.equal(at('2026-11-21T10:00:00Z'));
    expect(parseTimestamp(`2026-11-21T10:00:00Z${' '.repeat(21)}`)).to.equal(undefined);
  });

  it('has a UTC day with a start and a name', () => {
    const day = Date.UTC(2026, 10, 21);
    for (const instant of [day, day + 1, day + 86_399_999]) {
      expect(startOfDay(instant)).to.equal(day);
      expect(dayName(instant)).to.equal('20261121');
    }
    expect(startOfDay(day - 1)).to.equal(day - 86_400_000);
    expect(dayName(day - 1)).to.equal('20261120');
  });

  it('accepts February 29 in leap years', () => {
    expect(parseTimestamp('2024-02-29')).to.equal(at('2024-02-29T00:00:00Z'));
    expect(parseTimestamp('2024-02-29T23:30:00-05:00')).to.equal(at('2024-03-01T04:30:00Z'));
  });

  it('in a query can be a date, which covers the whole day', () => {
    expect(parseQueryTime('2026-11-21', false)).to.equal(at('2026-11-21T00:00:00Z'));
    expect(parseQueryTime('2026-11-21', true)).to.equal(at('2026-11-21T23:59:59.999Z'));
    expect(parseQueryTime('5', true)).to.equal(5);
    expect(parseQueryTime('now', true)).to.equal(undefined);
  });
});

describe('a log record', () => {
  const of = (data: object) => normalizeRecord(data as never, 'api', RECEIVED);

  it('has the time of receipt without a valid timestamp', () => {
    expect(of({}).instant).to.equal(RECEIVED);
    expect(of({ timestamp: 'soon' }).instant).to.equal(RECEIVED);
    expect(of({ timestamp: '2026-02-30T10:00:00Z' }).instant).to.equal(RECEIVED);
  });

  it('has an upper-case level, INFO by default, with pino numbers mapped', () => {
    expect(of({ level: 'warning' }).level).to.equal('WARNING');
    expect(of({}).level).to.equal('INFO');
    const levels = [0, 10, 20, 30, 35, 40, 50, 60, 99].map((level) => of({ level }).level);
    expect(levels).to.deep.equal(['TRACE', 'TRACE', 'DEBUG', 'INFO', 'INFO', 'WARN', 'ERROR', 'FATAL', 'FATAL']);
  });

  it('has the first valid timestamp of its known fields', () => {
    const names = ['timestamp', 'time', '@timestamp', 'ts', '__REALTIME_TIMESTAMP'];
    for (const [index, name] of names.entries()) {
      const unread = Object.fromEntries(names.slice(0, index).map((each) => [each, 'soon']));
      const others = Object.fromEntries(names.slice(index + 1).map((each) => [each, RECEIVED + 7]));
      expect(normalizeRecord({ ...unread, [name]: RECEIVED + 1, ...others }, 'api', 0).instant, name).to.equal(
        RECEIVED + 1,
      );
    }
  });

  it('has the level of level, severity or syslog priority, in this order', () => {
    const level = (data: object) => normalizeRecord(data as never, 'api', RECEIVED).level;
    expect(level({ level: ' warn ', severity: 'error' })).to.equal('WARN');
    expect(level({ severity: 'error', PRIORITY: '6' })).to.equal('ERROR');
    expect(level({ level: ' ', PRIORITY: '3' })).to.equal('ERROR');
    const bySyslog = ['FATAL', 'FATAL', 'FATAL', 'ERROR', 'WARN', 'INFO', 'INFO', 'DEBUG'];
    expect(bySyslog.map((_, priority) => level({ PRIORITY: String(priority) }))).to.deep.equal(bySyslog);
    expect([level({ PRIORITY: '8' }), level({ PRIORITY: 'x' }), level({})]).to.deep.equal(['INFO', 'INFO', 'INFO']);
    expect([level({ level: '30' }), level({ level: '50x' }), level({ level: 'x50' })]).to.deep.equal([
      'INFO',
      '50X',
      'X50',
    ]);
    const byPino = [0, 9, 10, 20, 30, 39, 40, 50, 60, 69, 1000].map((each) => level({ level: each }));
    expect(byPino).to.deep.equal('TRACE TRACE TRACE DEBUG INFO INFO WARN ERROR FATAL FATAL FATAL'.split(' '));
  });

  it('has a text message for any value', () => {
    const message = (value: unknown) => normalizeRecord({ message: value } as never, 'api', RECEIVED).message;
    expect([message('text'), message(7), message(true), message(null)]).to.deep.equal(['text', '7', 'true', '']);
    expect([message({ a: 1 }), message([1, 'x'])]).to.deep.equal(['{"a":1}', '[1,"x"]']);
  });

  it('has the event of event or message', () => {
    expect(of({ event: 'e', message: 'm' }).event).to.equal('e');
    expect(of({ message: 'm' }).event).to.equal('m');
    expect(of({ msg: 'pino' }).event).to.equal('pino');
    expect(of({}).event).to.equal(undefined);
  });

  it('has its message as text', () => {
    expect(of({ message: { a: 1 } }).message).to.equal('{"a":1}');
    expect(of({ message: 5 }).message).to.equal('5');
    expect(of({}).message).to.equal('');
  });

  it('has the correlation id of correlationId, requestId or traceId, in this order', () => {
    expect(of({ correlationId: 'c', requestId: 'r', traceId: 't' }).correlationId).to.equal('c');
    expect(of({ requestId: 'r', traceId: 't' }).correlationId).to.equal('r');
    expect(of({ traceId: 't' }).correlationId).to.equal('t');
    expect(of({}).correlationId).to.equal(undefined);
  });

  it('cannot override its producer', () => {
    expect(of({ producerId: 'other', producer: 'other' }).producerId).to.equal('api');
  });

  it('is normalized for any JSON object, without changing it', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (data) => {
        const { instant, level, data: normalizedData } = of(data);
        expect(Number.isSafeInteger(instant)).to.equal(true);
        expect(level).to.not.equal('');
        expect(normalizedData).to.equal(data);
      }),
    );
  });

  it('is normalized alike when its own timestamp is its time of receipt', () => {
    fc.assert(
      fc.property(record, (data) => {
        const first = of(data);
        expect(normalizeRecord(data, 'api', first.instant)).to.deep.equal(first);
      }),
    );
  });
});
