/** Watched files on their way into the log: in runs that are there whole, or not at all. */
import { expect } from 'chai';
import type { Records } from '../../../application/logs/ingest.js';
import { createWatch } from '../../../application/logs/watch.js';
import { batchesOf } from '../../../domain/logs/batch.js';
import { quiet } from '../../support/engines.js';
import { context } from '../../support/toys.js';

/** More than a batch holds. */
const LENGTH = 10_001;

describe('the runs of a watched file', () => {
  it('are made in turns with everybody else, though none of its lines is a record', async () => {
    const bytes = Buffer.from('x\n'.repeat(20_000));
    const file = { path: '/logs/app.ndjson', id: 'file', size: bytes.length };
    const stop = new AbortController();
    const watch = createWatch({
      directories: ['/logs'],
      async *filesIn() {
        yield file;
      },
      nextPiece: async () => ({ bytes, end: bytes.length }),
      writerOf: () => 'app',
      ingest: { take: () => Promise.reject(new Error('there are no records')) },
      offset: async () => undefined,
      caughtUp: async () => {},
      context: () => context(),
      logger: quiet,
    });
    let turns = 0;
    let others = setImmediate(function next() {
      turns++;
      others = setImmediate(next);
    });
    await watch(stop.signal);
    clearImmediate(others);
    expect(turns).to.be.above(1);
  });

  const LINES = {
    'the records are larger than their lines': '{"producerId":"a","message":"short"}\n',
    'there is nothing in the records': '{}\n',
  };
  for (const [why, line] of Object.entries(LINES))
    it(`fit one batch each, though ${why}`, async () => {
      const bytes = Buffer.from(line.repeat(LENGTH));
      const file = { path: '/logs/app.ndjson', id: 'file', size: bytes.length };
      const taken: Records[] = [];
      const stop = new AbortController();
      const watch = createWatch({
        directories: ['/logs'],
        async *filesIn() {
          yield file;
        },
        nextPiece: async (_, offset) => ({ bytes: bytes.subarray(offset), end: bytes.length }),
        writerOf: () => 'w'.repeat(200),
        ingest: {
          async take(given) {
            taken.push(given);
            return { receivedAt: 0, position: 0n, visible: true };
          },
        },
        offset: async () => undefined,
        caughtUp: async () => {},
        context: () => context(),
        logger: quiet,
      });
      await watch(stop.signal);
      for (const given of taken) expect(batchesOf({ ...given, receivedAt: 0 })).to.have.length(1);
      expect(taken.flatMap(({ records }) => records)).to.have.length(LENGTH);
      expect(taken.at(-1)?.source.offset).to.equal(bytes.length);
      const ends = taken.map(({ source, records }) => source.offset / records.length);
      expect(ends[0]).to.equal(line.length);
    });
});
