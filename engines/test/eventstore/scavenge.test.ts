/** Scavenge of the embedded event store while the metadata of a stream changes. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { append, createRecentIds, systemEvent, writeMetadata } from '../../eventstore/log/append.js';
import { type EventLog, openEventLog } from '../../eventstore/log/event-log.js';
import { ANY } from '../../eventstore/log/expected.js';
import { readBackwards, readForwards } from '../../eventstore/log/read.js';
import { revisionOf } from '../../eventstore/log/record.js';
import { scavenge } from '../../eventstore/log/scavenge.js';

describe('a scavenge of the embedded event store', () => {
  let directory: string;
  let log: EventLog;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'annals-scavenging-'));
    log = openEventLog(directory, (error) => {
      throw error;
    });
  });
  afterEach(async () => {
    await log.close();
    await rm(directory, { recursive: true, force: true });
  });

  const write = (stream: string, count: number) => {
    const events = Array.from({ length: count }, () => systemEvent(`Event-${randomUUID()}`));
    return log.submit((now) => append(log, createRecentIds(), { stream, expected: ANY, events, size: 0 }, now));
  };
  const describeStream = (stream: string, metadata: object) =>
    log.submit((now) => writeMetadata(log, stream, Buffer.from(JSON.stringify(metadata)), now));
  /** More events than one slice of the scavenge examines. */
  const SLICE = 600;

  for (const [what, metadata, remaining] of [
    ['hides more', { $tb: 4 }, [0, 1, 4, 5]],
    ['hides all', { $tb: 99 }, [0, 1]],
  ] as const)
    it(`keeps readable events when the metadata ${what} meanwhile and is reset later`, async () => {
      await write('s', 2);
      await write('other', SLICE);
      await write('s', 4);
      await write('other', 1);
      const done = scavenge(log, new AbortController().signal);
      // Runs in the batch of the first slice, and so before the second one.
      await describeStream('s', metadata);
      await done;
      const revisions = ({ records }: ReturnType<typeof readForwards>) => records.map(revisionOf);
      await describeStream('s', {});
      const stream = log.streams.flushed('s')!;
      expect(revisions(readForwards(log, stream, 0, 100))).deep.equal(remaining);
      expect(revisions(readBackwards(log, stream, 100, 100))).deep.equal([...remaining].reverse());
    });
});
