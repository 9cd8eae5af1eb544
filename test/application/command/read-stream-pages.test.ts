/** Paged reads of a stream: every event in order, in pages of bounded size. */
import { expect } from 'chai';
import { readBackward, readForward } from '../../../application/command/read-stream-pages.js';
import type { EventLog, ReadOptions, RecordedEvent } from '../../../application/ports/index.js';

describe('the pages of a stream', () => {
  /** A stream that begins at revision `first`, as after older events expired. */
  function streamOf(first: number, count: number) {
    const readOptions: ReadOptions[] = [];
    const read: EventLog['read'] = async (_, options = {}) => {
      readOptions.push(options);
      const { backwards = false, limit = count } = options;
      const all = Array.from({ length: count }, (_, index) => ({ revision: first + index }) as RecordedEvent);
      const { from = backwards ? first + count - 1 : 0 } = options;
      if (backwards)
        return all
          .filter(({ revision }) => revision <= from)
          .toReversed()
          .slice(0, limit);
      return all.filter(({ revision }) => revision >= from).slice(0, limit);
    };
    return { log: { read }, readOptions };
  }
  const revisions = async (log: Pick<EventLog, 'read'>, from?: number) => {
    const found: number[] = [];
    for await (const page of readForward(log, 'toys.toy-a', from)) found.push(...page.map((each) => each.revision));
    return found;
  };
  const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

  it('contain all events in order, for any length and first revision', async () => {
    for (const count of [0, 1, 199, 200, 201, 400, 999])
      for (const first of [0, 7]) {
        const { log, readOptions } = streamOf(first, count);
        expect(await revisions(log)).to.deep.equal(range(first, first + count - 1));
        expect(Math.max(...readOptions.map(({ limit }) => limit ?? Infinity))).to.be.at.most(200);
      }
    expect(await revisions(streamOf(0, 450).log, 201)).to.deep.equal(range(201, 449));
  });

  it('are read backwards to the first event, after a small page in full ones', async () => {
    const { log, readOptions } = streamOf(7, 450);
    const found: number[] = [];
    for await (const page of readBackward(log, 'toys.toy-a', undefined, 2))
      found.push(...page.map((each) => each.revision));
    expect(found).to.deep.equal(range(7, 456).toReversed());
    expect(readOptions.map(({ limit }) => limit)).to.deep.equal([2, 200, 200, 200, 200]);
  });

  it('end with the reason if the stream is missing or deleted, at the start or midway', async () => {
    for (const reason of ['missing', 'deleted'] as const) {
      expect(await readForward({ read: async () => reason }, 'toys.toy-a').next()).to.deep.equal({
        done: true,
        value: reason,
      });
      const { log } = streamOf(0, 200);
      let reads = 0;
      const read: EventLog['read'] = async (...args) => (reads++ ? reason : log.read(...args));
      const pages = readForward({ read }, 'toys.toy-a');
      await pages.next();
      expect(await pages.next()).to.deep.equal({ done: true, value: reason });
    }
  });
});
