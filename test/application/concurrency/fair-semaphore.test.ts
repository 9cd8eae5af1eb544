/** The fair semaphore: limits concurrent jobs, with fair queueing, coalescing and weights. */
import { expect } from 'chai';
import { createFairSemaphore } from '../../../application/concurrency/fair-semaphore.js';
import { UnavailableError } from '../../../application/ports/index.js';

/** A job that ends when `end` is called. */
function createJob() {
  let end: (failure?: Error) => void = () => {};
  const ended = new Promise<void>((resolve, reject) => {
    end = (failure) => (failure ? reject(failure) : resolve());
  });
  let begun = false;
  return {
    end,
    get begun() {
      return begun;
    },
    work: () => {
      begun = true;
      return ended;
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('the fair semaphore', () => {
  it('runs a limited number of jobs concurrently, first in, first out', async () => {
    const jobs = Array.from({ length: 4 }, createJob);
    const semaphore = createFairSemaphore('it', 2, 10);
    const all = jobs.map(({ work }) => semaphore(work));
    expect(jobs.map(({ begun }) => begun)).to.deep.equal([true, true, false, false]);
    jobs[1]!.end();
    await settled();
    expect(jobs.map(({ begun }) => begun)).to.deep.equal([true, true, true, false]);
    for (const { end } of jobs) end();
    await Promise.all(all);
  });

  it('continues after a failed job', async () => {
    const [one, two] = [createJob(), createJob()];
    const semaphore = createFairSemaphore('it', 1, 10);
    const failing = semaphore(one.work).catch(({ message }: Error) => message);
    const next = semaphore(two.work);
    one.end(new Error('no'));
    expect(await failing).to.equal('no');
    two.end();
    await next;
    await semaphore(async () => {});
  });

  it('rejects jobs when the queue is full', async () => {
    const jobs = [createJob(), createJob()];
    const semaphore = createFairSemaphore('it', 1, 1);
    const all = jobs.map(({ work }) => semaphore(work));
    expect(await semaphore(async () => {}).catch((error: unknown) => error)).to.be.instanceOf(UnavailableError);
    for (const { end } of jobs) end();
    await Promise.all(all);
  });

  it('rejects the newest job of the tenant with the longest queue', async () => {
    const first = createJob();
    const semaphore = createFairSemaphore('it', 1, 3);
    const done: string[] = [];
    const ask = (tenant: string) =>
      semaphore(async () => void done.push(tenant), tenant).catch((error: unknown) => {
        expect(error).to.be.instanceOf(UnavailableError);
        done.push(`not ${tenant}`);
      });
    const begun = semaphore(first.work, 'greedy');
    const all = ['greedy', 'greedy', 'greedy', 'greedy', 'ann', 'ben', 'greedy', 'ann'].map(ask);
    await settled();
    expect(done).to.have.members(['not greedy', 'not greedy', 'not greedy', 'not greedy', 'not ann']);
    first.end();
    await Promise.all([begun, ...all]);
    expect(done.slice(5)).to.deep.equal(['greedy', 'ann', 'ben']);
  });

  it('removes jobs of aborted requests and gives their places to others', async () => {
    const first = createJob();
    const semaphore = createFairSemaphore('it', 1, 2);
    const begun = semaphore(first.work);
    const request = new AbortController();
    const abandoned = Array.from({ length: 3 }, createJob);
    const wait = ({ work }: (typeof abandoned)[0], nth: number) =>
      semaphore(work, `tenant ${nth}`, { request }).catch((error: unknown) => error);
    const aborted = abandoned.slice(1).map(wait);
    request.abort();
    // They are rejected immediately, like a job of a request that was aborted before.
    for (const refused of await Promise.all([...aborted, wait(abandoned[0]!, 0)]))
      expect(refused).to.be.instanceOf(UnavailableError);
    const others = ['one', 'two'].map((each) => semaphore(async () => each, 'ann'));
    first.end();
    expect(await Promise.all([begun, ...others])).to.deep.equal([undefined, 'one', 'two']);
    expect(abandoned.map(({ begun }) => begun)).to.deep.equal([false, false, false]);
  });

  it('runs equal waiting jobs once, and again for later ones', async () => {
    const first = createJob();
    const semaphore = createFairSemaphore('it', 1, 10);
    const begun = semaphore(first.work);
    let made = 0;
    const ask = (tenant: string, coalesceKey: string) =>
      semaphore(async () => `${coalesceKey} ${++made}`, tenant, { coalesceKey });
    const waiting = [
      ask('ann', 'a'),
      ask('ben', 'b'),
      ask('ann', 'b'),
      ask('cyd', 'a'),
      // One of Eve's two jobs is shared, the other one stays queued.
      ask('eve', 'a'),
      ask('eve', 'c'),
    ];
    first.end();
    const afterwards = waiting[0]!.then(() => ask('dot', 'a'));
    expect(await Promise.all([begun, ...waiting, afterwards])).to.deep.equal([
      undefined,
      'a 1',
      'b 2',
      'b 2',
      'a 1',
      'a 1',
      'c 3',
      'a 4',
    ]);
  });

  it('limits how many waiters share a result, and shares no failure', async () => {
    const first = createJob();
    const semaphore = createFairSemaphore('it', 1, 10);
    const begun = semaphore(first.work);
    let made = 0;
    const make = async () => {
      if (++made === 1) throw new Error('no');
      return made;
    };
    const waiting = ['ann', 'ann', 'ben', 'cyd', 'dot'].map((tenant) =>
      semaphore(make, tenant, { coalesceKey: 'a', maxSharers: () => 2 }).catch(({ message }: Error) => message),
    );
    first.end();
    expect(await Promise.all([begun, ...waiting])).to.deep.equal([undefined, 'no', 3, 2, 2, 2]);
  });
});

describe('the fair semaphore with weighted jobs', () => {
  function fixture(capacity: number) {
    const semaphore = createFairSemaphore('it', capacity, 10);
    const begun: string[] = [];
    const ends = new Map<string, (error?: Error) => void>();
    const work = (name: string, size: number) =>
      semaphore(
        () => {
          begun.push(name);
          return new Promise<string>((resolve, reject) => {
            ends.set(name, (error) => (error ? reject(error) : resolve(name)));
          });
        },
        '',
        { weight: size },
      );
    const end = async (name: string, error?: Error) => {
      ends.get(name)!(error);
      await settled();
    };
    return { work, begun, end };
  }

  it('runs jobs that fit the capacity, first in, first out', async () => {
    const { work, begun, end } = fixture(10);
    const all = [work('a', 6), work('b', 4), work('c', 5), work('small', 1)];
    await settled();
    expect(begun).to.deep.equal(['a', 'b']);
    await end('b');
    expect(begun, 'a small job waits behind earlier ones').to.deep.equal(['a', 'b']);
    await end('a');
    expect(begun).to.deep.equal(['a', 'b', 'c', 'small']);
    for (const name of ['c', 'small']) await end(name);
    expect(await Promise.all(all)).to.deep.equal(['a', 'b', 'c', 'small']);
  });

  it('runs a job larger than the capacity alone', async () => {
    const { work, begun, end } = fixture(10);
    const all = [work('large', 99), work('small', 1), work('as large', 10)];
    await settled();
    expect(begun).to.deep.equal(['large']);
    await end('large');
    expect(begun).to.deep.equal(['large', 'small']);
    await end('small');
    expect(begun).to.deep.equal(['large', 'small', 'as large']);
    await end('as large');
    await Promise.all(all);
  });

  it('frees the capacity of a failed job', async () => {
    const { work, begun, end } = fixture(10);
    const failed = work('a', 10).catch(({ message }: Error) => message);
    const next = work('b', 10);
    await settled();
    await end('a', new Error('broken'));
    expect(await failed).to.equal('broken');
    expect(begun).to.deep.equal(['a', 'b']);
    await end('b');
    await next;
  });
});
