/** Process-level behaviour: log, client addresses and shutdown. */
import { EventEmitter } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
import { expect } from 'chai';
import fc from 'fast-check';
import { createClientAddress, isLoopback, networkOf } from '../../adapters/http/server/client-network.js';
import { createLogger, type LoggerOptions } from '../../adapters/platform/observability/logger.js';
import { installShutdown, once, type SignalHost, type Step } from '../../adapters/platform/process/shutdown.js';
import { UnavailableError } from '../../application/ports/index.js';
import { recordLines } from '../http/toy-http-service.js';
import { fakeClock } from '../support/fake-clock.js';

describe('the log', () => {
  function logTo(options: Partial<LoggerOptions> = {}) {
    const written: string[] = [];
    const to = { write: (line: string) => void written.push(line) };
    return { written, logger: createLogger({ level: 'debug', format: 'json', to, ...options }) };
  }

  it('writes one JSON line per entry', () => {
    const { logger, written } = logTo({ fields: { node: 'n1' } });
    logger.info({ route: '/rooms/:roomId', ms: 3 }, 'answered');
    expect(written).to.have.length(1);
    expect(written[0]).to.match(/^[^\n]+\n$/);
    const { time, ...rest } = JSON.parse(written[0]!);
    expect(new Date(time).toISOString()).to.equal(time);
    expect(rest).to.deep.equal({
      level: 'info',
      node: 'n1',
      route: '/rooms/:roomId',
      ms: 3,
      msg: 'answered',
    });
  });

  it('drops lines that nobody reads and reports how many', () => {
    const written: string[] = [];
    const to = { writableLength: 0, write: (line: string) => void written.push(line) };
    const logger = createLogger({ level: 'info', format: 'json', to });
    logger.info({}, 'read');
    to.writableLength = 2 * 1024 * 1024;
    for (let index = 0; index < 5; index++) logger.info({}, 'unread');
    to.writableLength = 1000;
    logger.info({}, 'read again');
    logger.info({}, 'and so on');
    expect(written.map((line) => JSON.parse(line))).to.containSubset([
      { msg: 'read' },
      { level: 'warn', lines: 5 },
      { msg: 'read again' },
      { msg: 'and so on' },
    ]);
    expect(written).to.have.length(4);
  });

  it('writes nothing below its level', () => {
    const { logger, written } = logTo({ level: 'warn' });
    logger.debug({}, 'a');
    logger.info({}, 'b');
    logger.warn({}, 'c');
    expect(written.map((line) => JSON.parse(line).msg)).to.deep.equal(['c']);
  });

  it('masks secrets wherever they occur', () => {
    const { logger, written } = logTo();
    for (const name of ['token', 'sessionToken', 'password', 'authorization', 'cookie', 'body', 'query']) {
      logger.info({ [name]: 's3cret' }, 'top');
      logger.info({ request: { [name]: 's3cret' } }, 'below');
      logger.info({ request: { headers: { [name]: ['s3cret'] } } }, 'two below');
    }
    expect(written.join('')).not.to.include('s3cret');
  });

  it("writes message and stack of an error, not the driver's properties", () => {
    const { logger, written } = logTo();
    const cause = new Error('connect mongodb://ann:s3cret@host failed');
    const error = Object.assign(new Error('write failed', { cause }), {
      code: 11000,
      op: { text: 's3cret' },
    });
    logger.error({ err: error }, 'failed');
    const { err } = JSON.parse(written[0]!);
    expect(err).to.include({ type: 'Error', message: 'write failed', code: 11000 });
    expect(err.stack).to.include('process.test');
    expect(written[0]).not.to.include('s3cret');
  });

  it('writes the message of an unavailable store without the stack', () => {
    const { logger, written } = logTo();
    const several = new AggregateError([new Error('refused'), new Error('mongodb://ann:s3cret@host')], 'several');
    const away = new UnavailableError('MongoDB does not answer', {
      cause: new Error('not now', { cause: several }),
    });
    logger.error({ err: away }, 'failed');
    logger.error({ err: new Error('a bug', { cause: away }) }, 'failed');
    const [{ err }, { err: bug }] = written.map((line) => JSON.parse(line));
    expect(JSON.stringify(err)).not.to.match(/"stack"|s3cret/);
    expect([err.message, err.cause.message, err.cause.cause.errors[0].message]).to.deep.equal([
      'MongoDB does not answer',
      'not now',
      'refused',
    ]);
    expect(bug.stack).to.include('process.test');
    expect(bug.cause).to.deep.equal(err);
    const pretty = logTo({ format: 'pretty' });
    pretty.logger.warn({ err: away }, 'failed');
    expect(stripVTControlCharacters(pretty.written[0]!)).to.include('    MongoDB does not answer: not now\n');
  });

  it('writes every message of an aggregate error', () => {
    const { logger, written } = logTo();
    const each = [new TypeError('of mongodb://ann:s3cret@host'), new RangeError('other')];
    logger.error({ err: new AggregateError(each, 'several') }, 'failed');
    const { err } = JSON.parse(written[0]!);
    expect(err.message).to.equal('several');
    expect(err.errors.map(({ type }: { type: string }) => type)).to.deep.equal(['TypeError', 'RangeError']);
    expect(err.errors[1].message).to.equal('other');
    expect(written[0]).not.to.include('s3cret');
  });

  it('writes human-readable lines on request', () => {
    const { logger, written } = logTo({ format: 'pretty' });
    logger.warn({ err: new Error('broken pipe'), service: 'rooms' }, 'could not answer');
    const plain = stripVTControlCharacters(written[0]!);
    expect(plain).to.match(/^\d\d:\d\d:\d\d\.\d{3} warn {2}could not answer service=rooms\n {4}Error: broken pipe\n/);
  });

  it('strips control sequences on a terminal', () => {
    const { logger, written } = logTo({ format: 'pretty' });
    const evil = '/logs/\u001b]0;title\u0007\u009b2J\u202e.ndjson';
    logger.warn({ err: new Error(`${evil}\r\nsecond`), path: evil }, evil);
    const plain = stripVTControlCharacters(written[0]!.replaceAll('\n', ''));
    expect(plain).not.to.match(/[\p{Cc}\u202e]/u);
    expect(plain.split('\\u001b]0;title\\u0007\\u009b2J\\u202e.ndjson').length).to.be.above(3);
    expect(written[0]).to.match(/\n {4}second\n/);
  });
});

describe('client address', () => {
  it("is the socket's when no proxy is trusted", () => {
    const address = createClientAddress([]);
    expect(address('203.0.113.5', '1.2.3.4')).to.equal('203.0.113.5');
    expect(address('::ffff:203.0.113.5', undefined)).to.equal('203.0.113.5');
  });

  it('causes one warning when a proxy on this machine is not trusted', () => {
    let warnings = 0;
    const address = createClientAddress(['10.0.0.0/8'], () => void warnings++);
    for (const [socket, forwardedFor] of [
      ['127.0.0.1', undefined],
      ['203.0.113.5', '1.2.3.4'],
      ['10.0.0.1', '1.2.3.4'],
    ] as const)
      address(socket, forwardedFor);
    expect(warnings).to.equal(0);
    for (let nth = 0; nth < 2; nth++) expect(address('::ffff:127.0.0.1', '1.2.3.4')).to.equal('127.0.0.1');
    expect(warnings).to.equal(1);
    createClientAddress(['127.0.0.0/8'], () => void warnings++)('127.0.0.1', '1.2.3.4');
    expect(warnings).to.equal(1);
  });

  it('is the last one not set by a trusted proxy', () => {
    const address = createClientAddress(['10.0.0.0/8', '2001:db8::/32', '192.0.2.1']);
    expect(address('10.0.0.1', '6.6.6.6, 203.0.113.9')).to.equal('203.0.113.9');
    expect(address('::ffff:10.0.0.1', '203.0.113.9, 192.0.2.1')).to.equal('203.0.113.9');
    expect(address('2001:db8::1', '2001:4860::8')).to.equal('2001:4860::8');
    expect(address('10.0.0.1', '[2001:4860::8]:443')).to.equal('2001:4860::8');
    expect(address('10.0.0.1', '203.0.113.9:5123')).to.equal('203.0.113.9');
    expect(address('203.0.113.9', '1.1.1.1')).to.equal('203.0.113.9');
    expect(address('10.0.0.1', '203.0.113.9, unknown')).to.equal('10.0.0.1');
  });

  it('is never a value that the client made up', () => {
    const address = createClientAddress(['10.0.0.0/8']);
    fc.assert(
      fc.property(fc.string(), (forged) => {
        expect(address('10.0.0.1', `${forged}, 203.0.113.9`)).to.equal('203.0.113.9');
      }),
    );
  });

  it('rejects invalid addresses and blocks', () => {
    for (const wrong of ['localhost', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', '::/129', '', '10.0.0/8']) {
      expect(() => createClientAddress([wrong]), wrong).to.throw(RangeError);
    }
  });

  it('is the same for every notation of an IPv4 address', () => {
    const address = createClientAddress(['10.0.0.0/8']);
    expect(address('::ffff:0a00:0001', '::ffff:cb00:7109')).to.equal('203.0.113.9');
    expect(networkOf('::ffff:203.0.113.9')).to.equal('203.0.113.9');
  });

  it('counts as its /64 for IPv6, and as itself for IPv4', () => {
    const one = networkOf('2001:db8:1:2:3:4:5:6');
    expect(networkOf('2001:db8:1:2::')).to.equal(one);
    expect(networkOf('2001:0DB8:0001:0002:ffff:ffff:ffff:ffff')).to.equal(one);
    expect(networkOf('2001:db8:1:3::')).not.to.equal(one);
    expect(networkOf('fe80::1%eth0')).to.equal(networkOf('fe80::2%eth0'));
    expect(networkOf('203.0.113.9')).not.to.equal(networkOf('203.0.113.8'));
    expect(networkOf('unknown')).to.equal('unknown');
  });

  it('recognises loopback in both versions', () => {
    const here = ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:0:0:1'];
    expect(here.every(isLoopback)).to.equal(true);
    expect(['128.0.0.1', '::2', '10.0.0.1', '', '127.0.0.1.evil'].some(isLoopback)).to.equal(false);
  });
});

describe('shutdown', () => {
  class Host extends EventEmitter implements SignalHost {
    readonly codes: number[] = [];
    readonly exited = new Promise<number>((resolve) => this.once('exit', resolve));
    exit(code: number) {
      this.codes.push(code);
      this.emit('exit', code);
    }
  }

  function stopping(steps: readonly Step[], graceMs?: number) {
    const host = new Host();
    const { logger, lines } = recordLines();
    installShutdown({ steps, logger, host, ...(graceMs === undefined ? {} : { graceMs }) });
    return { host, lines };
  }

  it('runs its steps in order and exits with 0', async () => {
    const done: string[] = [];
    const step = (name: string): Step => ({
      name,
      run: async () => {
        done.push(`${name} begins`);
        await Promise.resolve();
        done.push(`${name} ends`);
      },
    });
    const { host } = stopping([step('http'), step('projections')]);
    host.emit('SIGTERM');
    expect(await host.exited).to.equal(0);
    expect(done).to.deep.equal(['http begins', 'http ends', 'projections begins', 'projections ends']);
  });

  it('runs once for two callers, and gives both the outcome', async () => {
    let runs = 0;
    const step = once({ name: 'engines', run: () => Promise.reject(new Error(`run ${++runs}`)) });
    const ends = [step.run(), step.run()].map((end) => Promise.resolve(end).catch(({ message }) => message));
    expect(await Promise.all(ends)).to.deep.equal(['run 1', 'run 1']);
  });

  it('continues after a failing step and exits with 1', async () => {
    let closed = false;
    const { host, lines } = stopping([
      { name: 'http', run: () => Promise.reject(new Error('no')) },
      {
        name: 'engines',
        run() {
          closed = true;
        },
      },
    ]);
    host.emit('SIGINT');
    expect(await host.exited).to.equal(1);
    expect(closed).to.equal(true);
    expect(lines.find(({ level }) => level === 'error')?.fields).to.include({ step: 'http' });
  });

  it('exits at once on a second signal, but not on several at the same time', async () => {
    const time = fakeClock();
    const host = new Host();
    const { logger, lines } = recordLines();
    let runs = 0;
    const run = () => {
      runs++;
      return new Promise<never>(() => {});
    };
    installShutdown({ steps: [{ name: 'stuck', run }], logger, host, now: time.now });
    for (const ms of [0, 0, 3, 996]) {
      time.pass(ms);
      for (const signal of ['SIGINT', 'SIGTERM']) host.emit(signal);
    }
    expect([runs, host.codes, lines.map(({ message }) => message)]).to.deep.equal([1, [], ['stopping']]);
    time.pass(1);
    host.emit('SIGTERM');
    expect(await host.exited).to.equal(1);
  });

  it('has a time limit', async () => {
    const { host } = stopping([{ name: 'stuck', run: () => new Promise<never>(() => {}) }], 20);
    host.emit('SIGTERM');
    expect(await host.exited).to.equal(1);
  });
});
