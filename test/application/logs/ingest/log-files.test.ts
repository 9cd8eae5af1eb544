/** Log files of common loggers, whole and corrupt. */
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
    entries: records.map(({ instant, level, event }) => [new Date(instant).toISOString(), level, event]),
    correlations: records.map(({ correlationId }) => correlationId),
  };
}

describe('a log file', () => {
  it('is parsed from pino', async () => {
    const { entries, correlations, rejected } = await read('pino');
    expect(rejected).to.equal(0);
    expect(entries).to.deep.equal([
      ['2025-11-21T10:00:00.123Z', 'INFO', 'incoming request'],
      ['2025-11-21T10:00:00.140Z', 'ERROR', 'request failed'],
      ['2025-11-21T10:00:00.141Z', 'DEBUG', 'query'],
      ['2025-11-21T10:00:01.000Z', 'FATAL', 'uncaught exception, exiting'],
    ]);
    expect(correlations).to.deep.equal([undefined, 'req-1', undefined, undefined]);
  });

  it('is parsed from winston', async () => {
    expect((await read('winston')).entries).to.deep.equal([
      ['2025-11-21T10:00:00.500Z', 'INFO', 'listening on 8080'],
      ['2025-11-21T10:00:01.250Z', 'WARN', 'slow query'],
      ['2025-11-21T10:00:02.000Z', 'ERROR', 'payment declined'],
      ['2025-11-21T10:00:03.125Z', 'VERBOSE', 'Größe geändert — ✓'],
    ]);
  });

  it('is parsed from bunyan', async () => {
    const { entries, correlations } = await read('bunyan');
    expect(entries).to.deep.equal([
      ['2025-11-21T10:00:00.000Z', 'INFO', 'job started'],
      ['2025-11-21T10:00:00.750Z', 'WARN', 'retrying'],
      ['2025-11-21T10:00:01.000Z', 'ERROR', 'job failed'],
    ]);
    expect(correlations[1]).to.equal('4bf92f3577b34da6a3ce929d0e0e4736');
  });

  it('is parsed from journald', async () => {
    expect((await read('journald')).entries).to.deep.equal([
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

  it('yields its valid lines when corrupt', async () => {
    const { entries, rejected, errors } = await read('corrupt');
    expect(entries.map(([, level]) => level)).to.deep.equal(['INFO', 'FATAL']);
    expect(rejected).to.equal(6);
    expect(errors.map(({ line }) => line)).to.deep.equal([2, 3, 4, 5, 6, 8]);
  });
});
