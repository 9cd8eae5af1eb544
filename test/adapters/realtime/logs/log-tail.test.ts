/** Live tails of records: filters, order, resuming, and clients that do not read. */
import { expect } from 'chai';
import { createTail, type Tail } from '../../../../adapters/realtime/logs/log-tail.js';
import type { Frame, Sink } from '../../../../adapters/realtime/relay/sink.js';
import { asEvent } from '../../../../application/command/event-envelope.js';
import { yieldToEventLoop } from '../../../../application/concurrency/cooperative-scheduler.js';
import type { StoredBatch } from '../../../../application/logs/ingest/decrypt-batch.js';
import type { Entry } from '../../../../application/logs/query/render-page.js';
import type { RecordsIngested } from '../../../../domain/logs/batch.js';
import type { Filter } from '../../../../domain/logs/filter.js';
import { EVERYTHING } from '../../../../domain/logs/filter.js';
import type { JsonObject } from '../../../../domain/logs/json.js';
import { normalizeRecord } from '../../../../domain/logs/record.js';
import { recordId } from '../../../../domain/logs/record-id.js';
import { NOON } from '../../../domain/logs/arbitrary.js';
import { countRounds } from '../../../support/fake-clock.js';
import { eventAt } from '../../../support/memory-ports.js';

interface Client extends Sink {
  readonly frames: Frame[];
  readonly ended: string[];
  /** While false, sent data stays unread. */
  reading: boolean;
  unread: number;
  /** Reads everything pending. */
  read(): void;
  leave(): void;
}

function client(): Client {
  const closed: (() => void)[] = [];
  let drained = () => {};
  const self: Client = {
    frames: [],
    ended: [],
    reading: true,
    unread: 0,
    read() {
      self.unread = 0;
      drained();
    },
    onDrain: (listener) => {
      drained = listener;
    },
    send(frame) {
      self.frames.push(frame);
      if (!self.reading) self.unread += frame.json.length;
    },
    beat: () => {},
    buffered: () => self.unread,
    end: (how) => void self.ended.push(how),
    cut: () => void self.ended.push('cut'),
    onClose: (listener) => void closed.push(listener),
    leave: () => {
      for (const each of closed.splice(0)) each();
    },
  };
  return self;
}

const messageOf = (frame: Frame | undefined) =>
  frame && (JSON.parse(frame.json) as { readonly message?: string }).message;
const messages = ({ frames }: Client) => frames.map(({ json }) => (JSON.parse(json) as Entry).message);

describe('live tail', () => {
  let tail: Tail;
  let slow = false;

  const recordsOf = async ({ data, position }: StoredBatch) => {
    // The second batch is decrypted sooner than the first.
    if (slow) for (let turn = 0; turn < 20 - Number(position); turn++) await Promise.resolve();
    return (JSON.parse(data.secret) as JsonObject[]).map((record, place) => ({
      ...normalizeRecord(record, 'api', NOON),
      id: recordId(position, place),
    }));
  };
  const batch = (position: bigint, ...records: readonly object[]) =>
    asEvent<RecordsIngested>(eventAt(position, 'RecordsIngested', { secret: JSON.stringify(records) }));
  const connect = (filter: Partial<Filter> = {}, after?: bigint) => {
    const one = client();
    tail.connect({ ...EVERYTHING, ...filter }, after, one);
    return one;
  };
  /** A client that has this record has all earlier ones. */
  const got = async (one: Client, message: string) => {
    while (messageOf(one.frames.at(-1)) !== message) await new Promise(setImmediate);
  };

  beforeEach(() => {
    slow = false;
    tail = createTail({
      recordsOf,
      from: 0n,
      head: async () => 10_000n,
      failed: (error) => {
        throw error;
      },
    });
  });
  afterEach(() => tail.close());

  it('sends every client the matching records in log order', async () => {
    slow = true;
    const [all, errors] = [connect(), connect({ levels: ['ERROR'] })];
    tail.publish(batch(1n, { message: 'a' }, { message: 'b', level: 'error' }));
    tail.publish(batch(2n, { message: 'c', level: 'error' }));
    tail.publish(batch(2n, { message: 'again' }));
    await Promise.all([got(all, 'c'), got(errors, 'c')]);
    expect(messages(all)).to.deep.equal(['a', 'b', 'c']);
    expect(messages(errors)).to.deep.equal(['b', 'c']);
    expect(all.frames.map(({ position }) => position)).to.deep.equal([undefined, 1n, 2n]);
  });

  it('resumes without repeating records', async () => {
    slow = true;
    tail.publish(batch(1n, { message: 'a' }));
    tail.publish(batch(2n, { message: 'b' }));
    const back = connect({}, 1n);
    const further = connect({}, 0n);
    tail.publish(batch(3n, { message: 'c' }));
    await Promise.all([got(back, 'c'), got(further, 'c')]);
    expect(messages(back)).to.deep.equal(['b', 'c']);
    expect(messages(further)).to.deep.equal(['a', 'b', 'c']);
    const fresh = connect();
    tail.publish(batch(4n, { message: 'd' }));
    await got(fresh, 'd');
    expect(messages(fresh)).to.deep.equal(['d']);
  });

  it('serves many resuming clients in turns without blocking', async () => {
    const records = Array.from({ length: 50 }, (_, n) => ({ message: `${n}` }));
    for (let position = 1n; position <= 5n; position++) tail.publish(batch(position, ...records));
    tail.publish(batch(6n, { message: 'last' }));
    const rounds = countRounds();
    const served = new Map<number, Set<object>>();
    const many = Array.from({ length: 30 }, () => {
      const one = client();
      const { send } = one;
      one.send = (frame) => {
        served.set(rounds.now(), (served.get(rounds.now()) ?? new Set()).add(one));
        send(frame);
      };
      tail.connect(EVERYTHING, 0n, one);
      return one;
    });
    await Promise.all(many.map((one) => got(one, 'last')));
    rounds.stop();
    expect(Math.max(...[...served.values()].map(({ size }) => size))).to.be.at.most(2);
  });

  describe('with batches that are slow to filter', () => {
    let looked: number;
    beforeEach(() => {
      looked = 0;
      const records = Array.from({ length: 20 }, (_, place) => ({
        ...normalizeRecord({ message: `${place}` }, 'api', NOON),
        id: recordId(1n, place),
        get level() {
          looked++;
          // Longer than the event loop may be blocked.
          const until = performance.now() + 10;
          while (performance.now() < until);
          return 'INFO';
        },
      }));
      tail.close();
      tail = createTail({
        recordsOf: async () => records,
        from: 0n,
        head: async () => 1n,
        failed: () => expect.fail(),
      });
    });
    const slow = { levels: ['INFO'] };

    it('filters few records per turn', async () => {
      const rounds = countRounds();
      const one = connect(slow);
      tail.publish(batch(1n));
      await got(one, '19');
      rounds.stop();
      expect(rounds.now()).to.be.at.least(looked);
    });

    it('is fair to every client', async () => {
      const many = Array.from({ length: 10 }, () => connect(slow));
      tail.publish(batch(1n));
      for (let turn = 0; turn < 5; turn++) await yieldToEventLoop();
      expect(looked).to.be.below(20);
      for (const each of many) each.leave();
    });

    it('stops filtering for disconnected clients', async () => {
      const [gone, stays] = [connect(slow), connect(slow)];
      tail.publish(batch(1n));
      while (looked === 0) await new Promise(setImmediate);
      gone.leave();
      await got(stays, '19');
      expect(looked).to.be.below(35);
    });
  });

  it('sends RESET to a client that was away too long', async () => {
    for (let position = 1n; position <= 2010n; position++) tail.publish(batch(position, { message: 'x' }));
    const late = connect({}, 3n);
    tail.publish(batch(3000n, { message: 'new' }));
    await got(late, 'new');
    expect(late.frames[0]).to.include({ json: '{"type":"RESET"}', position: 2010n });
    expect(messages(late).slice(1)).to.deep.equal(['new']);
    const intime = connect({}, 2005n);
    await got(intime, 'new');
    expect(messages(intime)).to.have.length(6);
  });

  it('sends a batch of any size in pieces to a reading client, without disconnecting it', async () => {
    const many = (from: number) =>
      Array.from({ length: 5000 }, (_, index) => ({ message: `${from + index}`, text: 'x'.repeat(300) }));
    const [slow, fast] = [connect(), connect()];
    slow.reading = false;
    for (let at = 0; at < 4; at++) tail.publish(batch(BigInt(at + 1), ...many(at * 5000)));
    await got(fast, '19999');
    while (messageOf(slow.frames.at(-1)) !== '19999') {
      expect(slow.unread).to.be.below(80 * 1024);
      slow.read();
      await new Promise(setImmediate);
    }
    const all = Array.from({ length: 20_000 }, (_, index) => `${index}`);
    expect(messages(slow)).to.deep.equal(all);
    expect(messages(fast)).to.deep.equal(all);
    expect(slow.frames.filter(({ position }) => position !== undefined)).to.have.length(4);
    expect([slow.ended, fast.ended]).to.deep.equal([[], []]);
  });

  it('buffers little for a client that does not read, and nothing after it has left', async () => {
    const [stuck, gone, fast] = [connect(), connect(), connect()];
    stuck.reading = false;
    gone.leave();
    for (let position = 1n; position <= 2100n; position++) {
      tail.publish(batch(position, { message: `${position}`, text: 'x'.repeat(3000) }));
      if (position % 500n === 0n) await got(fast, `${position}`);
    }
    await got(fast, '2100');
    expect(stuck.unread).to.be.within(1, 80 * 1024);
    expect(messages(gone)).to.deep.equal([]);
    expect(tail.streams()).to.equal(2);
    stuck.read();
    expect(stuck.frames.at(-1)).to.include({ json: '{"type":"RESET"}', position: 2100n });
  });

  it('waits for a batch that cannot be decrypted yet, without loss', async () => {
    tail.close();
    let away = true;
    tail = createTail({
      recordsOf: (event) => (away ? Promise.reject(new Error('away')) : recordsOf(event)),
      from: 0n,
      head: async () => 10_000n,
      failed: () => {
        away = false;
      },
    });
    const one = connect();
    tail.publish(batch(1n, { message: 'a' }));
    tail.publish(batch(2n, { message: 'b' }));
    await got(one, 'b');
    expect(messages(one)).to.deep.equal(['a', 'b']);
  });

  it('restarts with one RESET when the log was restored to an earlier position', async () => {
    tail.publish(batch(1n, { message: 'a' }));
    const lost = connect({}, 20_000n);
    while (lost.frames.length === 0) await new Promise(setImmediate);
    tail.publish(batch(2n, { message: 'b' }));
    await got(lost, 'b');
    expect(lost.frames.map(({ json }) => JSON.parse(json).type)).to.deep.equal(['RESET', undefined]);
    expect(lost.frames[0]?.position).to.equal(1n);
  });

  it('tells all clients to reconnect on shutdown', () => {
    const one = connect();
    tail.close();
    expect([one.ended, connect().ended]).to.deep.equal([['resume'], ['resume']]);
  });
});
