/** Watched files on their way into the log: in runs that are there whole, or not at all. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import type { Records } from '../../../../application/logs/ingest/ingest-records.js';
import { createFileTailer } from '../../../../application/logs/ingest/tail-files.js';
import { createBatches } from '../../../../domain/logs/batch.js';
import { context } from '../../../support/toy-service.js';

/** More than a batch holds. */
const LENGTH = 10_001;

describe('the runs of a watched file', () => {
  it('are made in turns with everybody else, though none of its lines is a record', async () => {
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
    let turns = 0;
    let others = setImmediate(function next() {
      turns++;
      others = setImmediate(next);
    });
    await watch(stop.signal);
    clearImmediate(others);
    expect(turns).to.be.above(1);
  });

  it('are those that were not read before, also of a file that was gone for so long that it is not remembered', async () => {
    const bytes = Buffer.from('{}\n'.repeat(10));
    let there = true;
    const asked: string[] = [];
    const index = new Map<string, number>();
    const written = new Map<string, number>();
    let records = 0;
    const watch = createFileTailer({
      directories: ['/logs'],
      async *filesIn() {
        if (there) yield { path: '/logs/app.ndjson', id: 'file', size: bytes.length };
      },
      nextPiece: async (_, offset) => ({ bytes: bytes.subarray(offset), end: bytes.length }),
      producerOf: () => 'app',
      ingest: {
        async take(given) {
          records += given.records.length;
          written.set(given.source.id, given.source.offset);
          return { receivedAt: 0, position: 0n, visible: true };
        },
      },
      offset: async (id) => {
        asked.push(id);
        return index.get(id);
      },
      caughtUp: async () => {
        for (const [id, offset] of written) index.set(id, offset);
      },
      context: () => context(),
      logger: silentLogger,
    });
    const { signal } = new AbortController();
    const look = async (times: number, isThere: boolean) => {
      there = isThere;
      for (let time = 0; time < times; time++) await watch(signal);
    };
    await look(2, true);
    // Between two names.
    await look(1, false);
    await look(1, true);
    expect(asked).to.deep.equal(['file']);
    await look(15_000, false);
    await look(2, true);
    expect(asked, 'it was forgotten').to.deep.equal(['file', 'file']);
    expect(records).to.equal(10);
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
      const watch = createFileTailer({
        directories: ['/logs'],
        async *filesIn() {
          yield file;
        },
        nextPiece: async (_, offset) => ({ bytes: bytes.subarray(offset), end: bytes.length }),
        producerOf: () => 'w'.repeat(200),
        ingest: {
          async take(given) {
            taken.push(given);
            return { receivedAt: 0, position: 0n, visible: true };
          },
        },
        offset: async () => undefined,
        caughtUp: async () => {},
        context: () => context(),
        logger: silentLogger,
      });
      await watch(stop.signal);
      for (const given of taken) expect(createBatches({ ...given, receivedAt: 0 })).to.have.length(1);
      expect(taken.flatMap(({ records }) => records)).to.have.length(LENGTH);
      expect(taken.at(-1)?.source.offset).to.equal(bytes.length);
      const ends = taken.map(({ source, records }) => source.offset / records.length);
      expect(ends[0]).to.equal(line.length);
    });
});
