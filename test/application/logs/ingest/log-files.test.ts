/** Log files as loggers write them, and as crashes leave them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parseBody } from '../../../../application/logs/ingest/parse-body.js';
import { parseRecord } from '../../../../domain/logs/record.js';

const RECEIVED = Date.UTC(2026, 0, 1);

async function read(name: string) {
  const path = fileURLToPath(new URL(`../../../../../test/fixtures/logs/files/${name}.ndjson`, import.meta.url));
  const body = await parseBody(readFileSync(path, 'utf8'), 'lines', 'api');
  if (typeof body === 'string') throw new Error(body);
  const records = body.records.map(({ json }) => parseRecord(json, 'api', RECEIVED));
  return {
    ...body,
    shown: records.map(({ instant, level, event }) => [new Date(instant).toISOString(), level, event]),
    correlations: records.map(({ correlationId }) => correlationId),
  };
}

describe('the file of a logger', () => {
  it('is understood from pino', async () => {
    const { shown, correlations, rejected } = await read('pino');
    expect(rejected).to.equal(0);
    expect(shown).to.deep.equal([
      ['2025-11-21T10:00:00.123Z', 'INFO', 'incoming request'],
      ['2025-11-21T10:00:00.140Z', 'ERROR', 'request failed'],
      ['2025-11-21T10:00:00.141Z', 'DEBUG', 'query'],
      ['2025-11-21T10:00:01.000Z', 'FATAL', 'uncaught exception, exiting'],
    ]);
    expect(correlations).to.deep.equal([undefined, 'req-1', undefined, undefined]);
  });

  it('is understood from winston', async () => {
    expect((await read('winston')).shown).to.deep.equal([
      ['2025-11-21T10:00:00.500Z', 'INFO', 'listening on 8080'],
      ['2025-11-21T10:00:01.250Z', 'WARN', 'slow query'],
      ['2025-11-21T10:00:02.000Z', 'ERROR', 'payment declined'],
      ['2025-11-21T10:00:03.125Z', 'VERBOSE', 'Größe geändert — ✓'],
    ]);
  });

  it('is understood from bunyan', async () => {
    const { shown, correlations } = await read('bunyan');
    expect(shown).to.deep.equal([
      ['2025-11-21T10:00:00.000Z', 'INFO', 'job started'],
      ['2025-11-21T10:00:00.750Z', 'WARN', 'retrying'],
      ['2025-11-21T10:00:01.000Z', 'ERROR', 'job failed'],
    ]);
    expect(correlations[1]).to.equal('4bf92f3577b34da6a3ce929d0e0e4736');
  });

  it('is understood from journald', async () => {
    expect((await read('journald')).shown).to.deep.equal([
      ['2025-11-21T10:00:00.000Z', 'INFO', 'Accepted publickey for deploy from 192.0.2.7 port 50122 ssh2'],
      [
        '2025-11-21T10:00:00.500Z',
        'ERROR',
        'EXT4-fs error (device vda1): ext4_find_entry:1454: inode #2: comm nginx: reading directory lblock 0',
      ],
      ['2025-11-21T10:00:01.000Z', 'WARN', '[72,105,32,255]'],
      ['2025-11-21T10:00:02.000Z', 'FATAL', 'Freezing execution.'],
    ]);
  });

  it('gives what is whole of it when it is corrupt', async () => {
    const { shown, rejected, errors } = await read('corrupt');
    expect(shown.map(([, level]) => level)).to.deep.equal(['INFO', 'FATAL']);
    expect(rejected).to.equal(6);
    expect(errors.map(({ line }) => line)).to.deep.equal([2, 3, 4, 5, 6, 8]);
  });
});
