/** Tests that every flush wakes subscribers of the embedded event store, in every state they may be in. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { append, createRecentIds } from '../../eventstore/log/append.js';
import { type EventLog, openEventLog } from '../../eventstore/log/event-log.js';
import { ANY } from '../../eventstore/log/expected.js';
import { subscribe } from '../../eventstore/services/subscribing.js';
import { caughtUp } from '../../eventstore/wire/answers.js';
import type { Call } from '../../eventstore/wire/grpc.js';
import { parseUuid } from '../../eventstore/wire/uuid.js';
import { eventually } from '../support/condition.js';

describe('a subscriber of the embedded event store', () => {
  let directory: string;
  let log: EventLog;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'annals-subscriber-'));
    log = openEventLog(directory, (error) => {
      throw error;
    });
  });
  afterEach(async () => {
    await log.close();
    await rm(directory, { recursive: true, force: true });
  });

  const write = (text: string) => {
    const [id, none] = [parseUuid(randomUUID()), Buffer.alloc(0)];
    const event = {
      id,
      type: Buffer.from('Recorded'),
      contentType: none,
      metadata: none,
      data: Buffer.from(text),
    };
    return log.submit((now) =>
      append(log, createRecentIds(), { stream: 's', expected: ANY, events: [event], size: text.length }, now),
    );
  };

  it('misses no event written while "caught up" is being sent', async () => {
    await write('first');
    const stop = new AbortController();
    const seen: string[] = [];
    let pendingWrites = 1;
    const call: Pick<Call, 'signal' | 'send'> = {
      signal: stop.signal,
      async send(messages) {
        seen.push(...messages.map(String));
        // Flushed while the subscriber waits for its client, that is before it waits for a flush.
        if (messages.includes(caughtUp) && pendingWrites-- > 0) await write('second');
      },
    };
    const request = { source: { from: 'start' as const }, filter: undefined };
    const running = subscribe(log, call as Call, request as Parameters<typeof subscribe>[2]);
    await eventually(() => seen.some((text) => text.includes('second'))).finally(() => stop.abort());
    await running;
    expect(seen.some((text) => text.includes('first'))).to.equal(true);
  });
});
