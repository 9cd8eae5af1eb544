/** Group commit over a log in memory: pending events are appended together, or fail in time. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { newEvent } from '../../../application/command/event-envelope.js';
import { type Appender, createGroupCommit } from '../../../application/command/group-commit.js';
import { type EventLog, UnavailableError } from '../../../application/ports/index.js';
import { fakeClock, useFakeTimers, withoutJitter } from '../../support/fake-clock.js';
import { failure, type MemoryIntake, memoryIntake, NOON } from '../../support/memory-ingest.js';
import { context } from '../../support/toy-service.js';

describe('in memory, a group commit', () => {
  let kernel: MemoryIntake['kernel'];
  let stored: MemoryIntake['stored'];
  beforeEach(() => {
    ({ kernel, stored } = memoryIntake());
  });

  const stream = 'logs.batch-api-2026-03-01-12';
  const batch = (message: string, bytes = 100) => {
    const event = {
      type: 'RecordsIngested',
      data: {
        producerId: 'api',
        day: '20260301',
        audit: false,
        count: 1,
        receivedAt: NOON,
        rejected: 0,
        secret: { lines: JSON.stringify({ message }) },
      },
    };
    return { event: newEvent({ service: 'logs', release: 'test' }, stream, event, 0, context()), bytes };
  };
  const over = (append = kernel.log.append, read = kernel.log.read, blocking?: true) => {
    const counts: number[] = [];
    const appender: Appender = createGroupCommit({
      log: { ...kernel.log, append, read },
      logger: silentLogger,
      appended: (_, __, events) => void counts.push(events),
      ...(blocking && { blocking }),
    });
    return { ...appender, counts };
  };
  beforeEach(() => kernel.vault.create('logs.batch-api-20260301'));

  it('appends pending events together, in order, within the limits of one append', async () => {
    const { append, counts, waitingBytes } = over();
    const small = ['a', 'b', 'c'].map((message) => append(stream, [batch(message)]));
    expect(waitingBytes()).to.equal(300);
    const positions = await Promise.all(small);
    expect(new Set(positions)).to.have.property('size', 1);
    expect(counts).to.deep.equal([3]);
    await append(stream, [batch('d', 400_000), batch('e', 400_000), batch('f', 200_000), batch('g', 900_000)]);
    expect(counts).to.deep.equal([3, 1, 2, 1]);
    await append(
      stream,
      Array.from({ length: 1001 }, (_, nth) => batch(`h${nth}`, 1)),
    );
    expect(counts.slice(4)).to.deep.equal([250, 250, 250, 250, 1]);
    expect((await stored([stream])).slice(0, 7)).to.deep.equal([...'abcdefg']);
    expect(waitingBytes()).to.equal(0);
  });

  it('reads one event of a stream new to it, and nothing afterwards, even after conflicts', async () => {
    const readSizes: number[] = [];
    const reading: EventLog['read'] = async (...args) => {
      const found = await kernel.log.read(...args);
      readSizes.push(typeof found === 'string' ? 0 : found.length);
      return found;
    };
    let appends = 0;
    const appending: EventLog['append'] = (...args) => {
      appends++;
      return kernel.log.append(...args);
    };
    const one = over(appending, reading);
    const other = over();
    for (const message of ['a', 'b']) await one.append(stream, [batch(message)]);
    expect([readSizes, appends]).to.deep.equal([[0], 2]);
    for (const message of ['c', 'd']) await other.append(stream, [batch(message)]);
    await one.append(stream, [batch('e')]);
    expect([readSizes, appends]).to.deep.equal([[0], 4]);
    await over(appending, reading).append(stream, [batch('f')]);
    expect([readSizes, appends]).to.deep.equal([[0, 1], 5]);
    expect(await stored([stream])).to.deep.equal([...'abcdef']);
  });

  it('recognises an append whose answer was lost, with events of others around it', async () => {
    let calls = 0;
    const { append } = over(async (...args) => {
      const outcome = await kernel.log.append(...args);
      if (++calls === 2) throw new UnavailableError('answer lost');
      return outcome;
    });
    await append(stream, [batch('one')]);
    const second = await append(stream, [batch('two')]);
    expect(second).to.equal(await kernel.head());
    await over().append(stream, [batch('other')]);
    await append(stream, [batch('three')]);
    expect(await stored([stream])).to.deep.equal(['one', 'two', 'other', 'three']);
  });

  it('succeeds however many conflicts other writers cause', async () => {
    const others = over();
    let faster = 30;
    const { append } = over(async (...args) => {
      if (faster-- > 0) await others.append(stream, [batch('other')]);
      return kernel.log.append(...args);
    });
    await withoutJitter(() => append(stream, [batch('own')]));
    expect(await stored([stream])).to.deep.equal([...Array(30).fill('other'), 'own']);
  });

  it('appends once if an answer is lost between conflicts', async () => {
    let calls = 0;
    const { append } = over(async (...args) => {
      calls++;
      if (calls === 2) await over().append(stream, [batch('other')]);
      const outcome = await kernel.log.append(...args);
      if (calls < 3) await over().append(stream, [batch(`after ${calls}`)]);
      if (calls < 3) throw new UnavailableError('answer lost');
      return outcome;
    });
    await withoutJitter(() => append(stream, [batch('own')]));
    expect((await stored([stream])).filter((name) => name === 'own')).to.have.lengthOf(1);
  });

  it('fails the pending events of a failed append, and none that follow', async () => {
    let broken = true;
    const { append, waitingBytes } = over(async (...args) => {
      if (broken) throw new Error('broken');
      return kernel.log.append(...args);
    });
    const both = await Promise.all([failure(append(stream, [batch('a')])), failure(append(stream, [batch('b')]))]);
    for (const each of both) expect(String(each)).to.include('broken');
    broken = false;
    await append(stream, [batch('c')]);
    expect(await stored([stream])).to.deep.equal(['c']);
    expect(waitingBytes()).to.equal(0);
  });

  it('fails without a retry when retention has deleted the stream', async () => {
    let appends = 0;
    const counted: EventLog['append'] = (...args) => {
      appends++;
      return kernel.log.append(...args);
    };
    const { append, waitingBytes } = over(counted);
    await append(stream, [batch('a')]);
    await kernel.log.tombstone(stream);
    for (const appender of [append, over(counted).append]) {
      const failed = await failure(appender(stream, [batch('b')]));
      expect(failed).to.be.instanceOf(UnavailableError);
      expect(String(failed)).to.include('closed by retention');
    }
    expect([appends, waitingBytes()]).to.deep.equal([2, 0]);
  });

  it('tries ten times while the log is unavailable', async () => {
    let calls = 0;
    const { append, waitingBytes } = over(() => {
      calls++;
      return Promise.reject(new UnavailableError('away'));
    });
    const failed = await withoutJitter(() => failure(append(stream, [batch('a')])));
    expect(failed).to.be.instanceOf(UnavailableError);
    expect([calls, waitingBytes()]).to.deep.equal([10, 0]);
  });

  it('stops trying after 6 s', async () => {
    const now = performance.now.bind(performance);
    let calls = 0;
    const { append } = over(() => {
      calls++;
      performance.now = () => now() + calls * 3001;
      return Promise.reject(new UnavailableError('away'));
    });
    const failed = await withoutJitter(() => failure(append(stream, [batch('a')]))).finally(() => {
      performance.now = now;
    });
    expect(failed).to.be.instanceOf(UnavailableError);
    expect(calls).to.equal(2);
  });

  it('fails events that were not sent within 6 s and continues with the append in flight', async () => {
    const time = fakeClock();
    const release = useFakeTimers(time);
    try {
      let [answer, sent] = [() => {}, 0];
      const { append, waitingBytes } = over(async (...args) => {
        if (++sent === 1) await new Promise<void>((resolve) => (answer = resolve));
        return kernel.log.append(...args);
      });
      const first = append(stream, [batch('first')]);
      while (sent === 0) await new Promise(setImmediate);
      time.pass(1000);
      const timedOut = failure(append(stream, [batch('second', 200), batch('third', 300)]));
      time.pass(5999);
      expect(waitingBytes()).to.equal(600);
      const last = append(stream, [batch('last', 50)]);
      time.pass(1);
      expect(waitingBytes()).to.equal(150);
      expect(await timedOut).to.be.instanceOf(UnavailableError);
      answer();
      expect([await first, await last]).to.deep.equal([100n, 200n]);
      expect(await stored([stream])).to.deep.equal(['first', 'last']);
      expect(waitingBytes()).to.equal(0);
    } finally {
      release();
    }
  });

  it('sends no further part of events that failed in part', async () => {
    let [refuse, sent] = [() => {}, 0];
    const { append, waitingBytes } = over(async (...args) => {
      if (++sent > 1) return kernel.log.append(...args);
      await new Promise<void>((resolve) => (refuse = resolve));
      throw new Error('broken');
    });
    const failed = failure(append(stream, [batch('a', 400_000), batch('b', 400_000), batch('c', 400_000)]));
    const other = append(stream, [batch('other')]);
    while (sent === 0) await new Promise(setImmediate);
    refuse();
    expect(String(await failed)).to.include('broken');
    await other;
    expect(await stored([stream])).to.deep.equal(['other']);
    expect(waitingBytes()).to.equal(0);
  });

  it('fails 20,000 pending events of a silent log in linear time', async () => {
    const due: (() => void)[] = [];
    const release = useFakeTimers({
      after(_, work) {
        due.push(work);
        return () => {};
      },
    });
    let sent = 0;
    const { append, waitingBytes } = over(async () => new Promise(() => void sent++));
    const { event } = batch('pending');
    const all = Array.from({ length: 20_000 }, () => append(stream, [{ event: { ...event }, bytes: 1 }]));
    while (sent === 0) await new Promise(setImmediate);
    release();
    expect(waitingBytes()).to.equal(20_000);
    for (const work of due) work();
    expect(waitingBytes()).to.equal(250);
    const givenUp = all.slice(250).map(failure);
    for (const each of await Promise.all(givenUp)) expect(each).to.be.instanceOf(UnavailableError);
  }).timeout(20_000);

  it('in blocking mode, fails pending events only once the log stops answering', async () => {
    const time = fakeClock();
    const release = useFakeTimers(time);
    try {
      let answer = () => {};
      let sent = 0;
      const slow: EventLog['append'] = async (...args) => {
        sent++;
        await new Promise<void>((resolve) => (answer = resolve));
        return kernel.log.append(...args);
      };
      const { append, waitingBytes } = over(slow, kernel.log.read, true);
      const [first, second, third, fourth] = ['first', 'second', 'third', 'fourth'].map((message) =>
        append(stream, [batch(message, 400_000)]),
      );
      for (const [nth, each] of [first, second].entries()) {
        for (let round = 0; round < 1000 && sent <= nth; round++) await new Promise(setImmediate);
        time.pass(5000);
        answer();
        await each;
      }
      for (let round = 0; round < 1000 && sent < 3; round++) await new Promise(setImmediate);
      const timedOut = failure(fourth!);
      time.pass(5999);
      expect(waitingBytes()).to.equal(800_000);
      time.pass(6001);
      expect(await timedOut).to.be.instanceOf(UnavailableError);
      answer();
      await third;
      expect(await stored([stream])).to.deep.equal(['first', 'second', 'third']);
      expect(waitingBytes()).to.equal(0);
    } finally {
      release();
    }
  });
});
