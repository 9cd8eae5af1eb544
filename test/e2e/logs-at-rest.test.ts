/** What a copy of the data directory reveals about log records without a key: nothing. */
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { serialize } from 'bson';
import { expect } from 'chai';
import type { Page } from '../../application/logs/query/render-page.js';
import { logClient } from '../support/log-client.js';
import { bytesIn, filesIn, startServer } from '../support/server-process.js';

/** Fields, values and words that occur only in these records; the messages become event names. */
const RECORDS = [
  {
    message: 'xylophone quarantined',
    level: 'zephyrlevel',
    correlationId: 'corr-wombat-77',
    secretField: 'marzipan',
    pin: 8_341_907_256,
    nested: { velociraptor: ['kumquat', true] },
    run: 'bytes',
  },
  { event: 'pangolin.escaped', message: 'Gewürztraminer', requestId: 'req-okapi-12', run: 'bytes' },
  { message: 'tapioca audit', audit: true, traceId: 'trace-narwhal-9', run: 'bytes' },
];

const TEXTS = [
  ...['xylophone', 'quarantined', 'zephyrlevel', 'corr-wombat-77', 'wombat', 'secretField', 'marzipan'],
  ...['8341907256', 'velociraptor', 'kumquat', 'pangolin', 'escaped', 'Gewürztraminer', 'okapi'],
  ...['tapioca', 'narwhal', 'requestId', 'traceId'],
];

describe('the log index at rest', () => {
  it('contains no word, name, value or guessable digest of a record, while all stay searchable', async () => {
    const directory = temporaryDirectory();
    try {
      const server = await startServer(directory.path, ['logs']);
      try {
        const client = logClient(server.urls.logs ?? '');
        // Enough records for several sealed blocks and an open one.
        const filling = Array.from({ length: 1500 }, (_, n) => ({ ...RECORDS[n % 3], n }));
        expect((await client.ingest(filling)).body.accepted).to.equal(1500);
        for (const each of RECORDS) expect((await client.ingest([each])).body.accepted).to.equal(1);
        const found = async (query: string) =>
          (await client.ask<Page>('GET', `/api/logs?limit=1000&${query}`)).body.entries.length;
        expect(await found('q=xylophone')).to.equal(501);
        expect(await found('event=pangolin.escaped')).to.equal(501);
        expect(await found('correlation=corr-wombat-77')).to.equal(501);
        expect(await found('correlation=trace-narwhal-9')).to.equal(501);
        expect(await found('level=zephyrlevel')).to.equal(501);
        expect(await found('field=nested.velociraptor&value=kumquat')).to.equal(501);
      } finally {
        await server.stop();
      }
      expect(filesIn(directory.path).length).to.be.greaterThan(1);
      const everything = bytesIn(directory.path);
      // The data is uncompressed, so that searching for plaintext is a valid check.
      expect(everything.includes('logs_records_v')).to.equal(true);
      expect(everything.includes('logs.batch-default')).to.equal(true);
      const readable = everything.toString('latin1').toLowerCase();
      const shown = TEXTS.filter((text) => readable.includes(Buffer.from(text.toLowerCase()).toString('latin1')));
      expect(shown, 'in clear').to.deep.equal([]);
      const guessed = ['corr-wombat-77', 'req-okapi-12', 'trace-narwhal-9'].filter((id) =>
        SEEDS.some((seed) => membersOf(fnv(id, seed)).some((bytes) => everything.includes(bytes))),
      );
      expect(guessed, 'as an unkeyed digest').to.deep.equal([]);
    } finally {
      directory.remove();
    }
  });
});

/** FNV-1a, which anyone can compute, with any seed. */
function fnv(text: string, seed: number): number {
  let value = seed;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value | 0;
}

const SEEDS = [0, 1, 2, 3].map((more) => 0x811c9dc5 ^ more);

/** A number as one of the first elements of a BSON array. */
const membersOf = (value: number) =>
  [0, 1, 2].map((at) => {
    const before = Array.from({ length: at }, () => 0);
    // Type, name and value, after the head of the document, the array's head and the elements before it.
    return Buffer.from(serialize({ a: [...before, value] }).subarray(11 + at * 7, 18 + at * 7));
  });
