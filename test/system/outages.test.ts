/** Log lines during an outage of a store: two, however many calls fail. */
import { expect } from 'chai';
import { reportOutages } from '../../adapters/platform/observability/outages.js';
import { StoreFullError } from '../../application/ports/errors.js';
import { type Logger, UnavailableError } from '../../application/ports/index.js';
import { fakeClock } from '../support/fake-clock.js';

describe('outage reports', () => {
  let lines: [level: string, message: string, fields: object][];
  let isBack: boolean;
  const time = fakeClock();
  let logger: Logger;
  beforeEach(() => {
    [lines, isBack] = [[], false];
    const line = (level: string) => (fields: object, message: string) => void lines.push([level, message, fields]);
    const probe = async () => {
      if (!isBack) throw new Error('away');
    };
    const given = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
    logger = reportOutages(given, { 'the event store': probe, MongoDB: probe }, time);
  });
  const shown = () => lines.filter(([level]) => level !== 'debug').map(([level, text]) => [level, text]);
  async function pass(ms: number) {
    for (let passed = 0; passed < ms; passed += 1000) {
      time.pass(1000);
      await new Promise(setImmediate);
    }
  }
  const election = () => new UnavailableError('MongoDB does not answer', { cause: new Error('not primary') });

  it('are one warning and one line at the end with the duration, per store', async () => {
    for (let second = 0; second < 8; second++) {
      for (const text of ['reaction failed', 'projecting failed']) logger.error({ err: election() }, text);
      logger.warn({ err: new UnavailableError('the event store is away') }, 'subscription dropped');
      await pass(1000);
    }
    isBack = true;
    await pass(10_000);
    expect(shown()).to.deep.equal([
      ['warn', 'MongoDB does not answer, trying again until it does'],
      ['warn', 'the event store does not answer, trying again until it does'],
      ['info', 'MongoDB answers again, after 7.0 s'],
      ['info', 'the event store answers again, after 7.0 s'],
    ]);
    expect(lines.at(-2)?.[2]).to.deep.equal({ store: 'MongoDB', awayMs: 7000, lines: 15 });
  });

  it('are two lines for a full disk as well', async () => {
    for (let second = 0; second < 5; second++) {
      logger.warn({ err: new StoreFullError('MongoDB takes no writes: its disk is full') }, 'periodic work failed');
      await pass(1000);
    }
    isBack = true;
    await pass(10_000);
    expect(shown()).to.deep.equal([
      ['warn', 'MongoDB takes no writes: its disk is full, trying again until it does'],
      ['info', 'MongoDB answers again, after 4.0 s'],
    ]);
  });

  it('do not end while the store is silent, even without calls', async () => {
    logger.error({ err: election() }, 'reaction failed');
    await pass(60_000);
    expect(shown()).to.have.length(1);
    isBack = true;
    await pass(4000);
    expect(shown()).to.have.length(2);
    logger.error({ err: election() }, 'reaction failed');
    expect(shown()).to.have.length(3);
  });

  it('recognise the store behind an error, and errors caused by its outage', async () => {
    logger.error({ err: new UnavailableError('rooms.room-1 is too busy', { cause: election() }) }, 'failed');
    logger.error({ err: new UnavailableError('the lease of periodic:x is lost') }, 'starting again');
    logger.error({ err: new UnavailableError('the rows are behind') }, 'reaction failed');
    expect(shown()).to.deep.equal([['warn', 'MongoDB does not answer, trying again until it does']]);
  });

  it('leave bugs, damage and unrelated lag as they are', () => {
    logger.error({ err: election() }, 'reaction failed');
    logger.error({ err: new TypeError('a bug') }, 'projecting failed');
    logger.warn({}, 'something else');
    logger.error({ err: new UnavailableError('MongoDB found damage in what it stores') }, 'projecting failed');
    expect(shown().slice(1)).to.deep.equal([
      ['error', 'projecting failed'],
      ['warn', 'something else'],
      ['warn', 'projecting failed'],
    ]);
  });

  it('show lag as a warning while no store is unavailable', () => {
    logger.error({ err: new UnavailableError('the rows are behind') }, 'reaction failed');
    expect(shown()).to.deep.equal([['warn', 'reaction failed']]);
  });
});
