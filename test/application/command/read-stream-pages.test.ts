/** A stream by pages: all of it, in order, and no page larger than the rest of the program takes in at once. */
import { expect } from 'chai';
import { readForward } from '../../../application/command/read-stream-pages.js';
import type { EventLog, ReadOptions, RecordedEvent } from '../../../application/ports/index.js';

describe('the pages of a stream', () => {
  /** Of revisions from `first` on, as one whose oldest events are gone. */
  function streamOf(first: number, count: number) {
    const asked: ReadOptions[] = [];
    const read: EventLog['read'] = async (_, options = {}) => {
      asked.push(options);
      const { from = 0, limit = count } = options;
      const all = Array.from({ length: count }, (_, index) => ({ revision: first + index }) as RecordedEvent);
      return all.filter(({ revision }) => revision >= from).slice(0, limit);
    };
    return { log: { read }, asked };
  }
  const revisions = async (log: Pick<EventLog, 'read'>, from?: number) => {
    const found: number[] = [];
    for await (const page of readForward(log, 'toys.toy-a', from)) found.push(...page.map((each) => each.revision));
    return found;
  };
  const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

  it('are all of it in order, however long it is and wherever it begins', async () => {
    for (const count of [0, 1, 199, 200, 201, 400, 999])
      for (const first of [0, 7]) {
        const { log, asked } = streamOf(first, count);
        expect(await revisions(log)).to.deep.equal(range(first, first + count - 1));
        expect(Math.max(...asked.map(({ limit }) => limit ?? Infinity))).to.be.at.most(200);
      }
    expect(await revisions(streamOf(0, 450).log, 201)).to.deep.equal(range(201, 449));
  });

  it('end with the reason where there is no such stream, at the beginning or on the way', async () => {
    for (const reason of ['missing', 'deleted'] as const) {
      expect(await readForward({ read: async () => reason }, 'toys.toy-a').next()).to.deep.equal({
        done: true,
        value: reason,
      });
      const { log } = streamOf(0, 200);
      let reads = 0;
      const read: EventLog['read'] = async (...asked) => (reads++ ? reason : log.read(...asked));
      const pages = readForward({ read }, 'toys.toy-a');
      await pages.next();
      expect(await pages.next()).to.deep.equal({ done: true, value: reason });
    }
  });
});
