/** Batches of tailed log files: each is appended as a whole or not at all. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import type { Records } from '../../../../application/logs/ingest/ingest-records.js';
import { createFileTailer } from '../../../../application/logs/ingest/tail-files.js';
import { createBatches } from '../../../../domain/logs/batch.js';
import { context } from '../../../support/toy-service.js';

/** More records than a batch may contain. */
const LENGTH = 10_001;

describe('the batches of a tailed log file', () => {
  it('yield to the event loop, even if no line is a valid record', async () => {
    const bytes = Buffer.from('x\n'.repeat(20_000));
    const file = { path: '/logs/app.ndjson', id: 'file', size: bytes.length };
    const stop = new AbortController();
    const watch = createFileTailer({
      directories: ['/logs'],
      async *filesIn() {
        yield file;
      },
      nextPiece: async () => ({ bytes, end: bytes.length }),
      producerOf: () => 'app',
      ingest: { take: () => Promise.reject(new Error('there are no records')) },
      offset: async () => undefined,
      caughtUp: async () => {},
      context: () => context(),
      logger: silentLogger,
    });
    let ticks = 0;
    let others = setImmediate(function next() {
      ticks++;
      others = setImmediate(next);
    });
    await watch(stop.signal);
    clearImmediate(others);
    expect(ticks).to.be.above(1);
  });

  it('continue where a file was left, even if it was missing so long that its offset is forgotten', async () => {
    const bytes = Buffer.from('{}\n'.repeat(10));
    let exists = true;
    const offsetReads: string[] = [];
    const index = new Map<string, number>();
    const written = new Map<string, number>();
    let records = 0;
    const watch = createFileTailer({
      directories: ['/logs'],
      async *filesIn() {
        if (exists) yield { path: '/logs/app.ndjson', id: 'file', size: bytes.length };
      },
      nextPiece: async (_, offset) => ({ bytes: bytes.subarray(offset), end: bytes.length }),
      producerOf: () => 'app',
      ingest: {
        async take(batch) {
          records += batch.records.length;
          written.set(batch.source.id, batch.source.offset);
          return { receivedAt: 0, position: 0n, visible: true };
        },
      },
      offset: async (id) => {
        offsetReads.push(id);
        return index.get(id);
      },
      caughtUp: async () => {
        for (const [id, offset] of written) index.set(id, offset);
      },
      context: () => context(),
      logger: silentLogger,
    });
    const { signal } = new AbortController();
    const look = async (times: number, isPresent: boolean) => {
      exists = isPresent;
      for (let time = 0; time < times; time++) await watch(signal);
    };
    await look(2, true);
    // As during a rename.
    await look(1, false);
    await look(1, true);
    expect(offsetReads).to.deep.equal(['file']);
    await look(15_000, false);
    await look(2, true);
    expect(offsetReads, 'the offset was forgotten').to.deep.equal(['file', 'file']);
    expect(records).to.equal(10);
  });

  const LINES = {
    'the records are larger than their lines': '{"producerId":"a","message":"short"}\n',
    'the records are empty': '{}\n',
  };
  for (const [why, line] of Object.entries(LINES))
    it(`fit one event each, although ${why}`, async () => {
      const bytes = Buffer.from(line.repeat(LENGTH));
      const file = { path: '/logs/app.ndjson', id: 'file', size: bytes.length };
      const taken: Records[] = [];
      const stop = new AbortController();
      const watch = createFileTailer({
        directories: ['/logs'],
        async *filesIn() {
          yield file;
        },
        nextPiece: async (_, offset) => ({ bytes: bytes.subarray(offset), end: bytes.length }),
        producerOf: () => 'w'.repeat(200),
        ingest: {
          async take(batch) {
            taken.push(batch);
            return { receivedAt: 0, position: 0n, visible: true };
          },
        },
        offset: async () => undefined,
        caughtUp: async () => {},
        context: () => context(),
        logger: silentLogger,
      });
      await watch(stop.signal);
      for (const batch of taken) expect(createBatches({ ...batch, receivedAt: 0 })).to.have.length(1);
      expect(taken.flatMap(({ records }) => records)).to.have.length(LENGTH);
      expect(taken.at(-1)?.source.offset).to.equal(bytes.length);
      const ends = taken.map(({ source, records }) => source.offset / records.length);
      expect(ends[0]).to.equal(line.length);
    });
});
