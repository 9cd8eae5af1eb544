/** Live tails for clients that are slow or leave within a batch, and their buffers. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { createTail } from '../../../../adapters/realtime/logs/log-tail.js';
import { asEvent } from '../../../../application/command/event-envelope.js';
import type { StoredBatch } from '../../../../application/logs/ingest/decrypt-batch.js';
import type { RecordsIngested } from '../../../../domain/logs/batch.js';
import { EVERYTHING } from '../../../../domain/logs/filter.js';
import type { JsonObject } from '../../../../domain/logs/json.js';
import { normalizeRecord } from '../../../../domain/logs/record.js';
import { recordId } from '../../../../domain/logs/record-id.js';
import { NOON } from '../../../domain/logs/arbitrary.js';
import { eventAt } from '../../../support/memory-ports.js';
import { type Recording, record } from '../../../support/toy-service.js';

const recordsOf = async ({ data, position }: StoredBatch) =>
  (JSON.parse(data.secret) as JsonObject[]).map((each, place) => ({
    ...normalizeRecord(each, 'api', NOON),
    id: recordId(position, place),
  }));

const batch = (position: bigint, ...messages: readonly string[]) =>
  asEvent<RecordsIngested>(
    eventAt(position, 'RecordsIngested', {
      secret: JSON.stringify(messages.map((message) => ({ message }))),
    }),
  );

const start = (more: Partial<Parameters<typeof createTail>[0]> = {}) =>
  createTail({
    recordsOf,
    from: 0n,
    head: async () => 10_000n,
    failed: (error) => {
      throw error;
    },
    ...more,
  });

/** The first characters of each record, or the type of other messages. */
const messages = ({ sent }: Recording) =>
  sent.map(({ message: { type, message } }: { message: { type?: string; message?: string } }) =>
    (message ?? type ?? '').slice(0, 5),
  );

describe('live tail of a slow client', () => {
  const large = (name: string) => name.padEnd(70_000, '.');

  it('starts a batch at its first record after a RESET within another one', async () => {
    const tail = start();
    const slow = record();
    slow.reading = false;
    tail.connect(EVERYTHING, undefined, slow);
    tail.publish(batch(1n, large('one'), large('two'), 'three'));
    await eventually(() => slow.sent.length === 1);
    for (let position = 2n; position <= 2100n; position++) tail.publish(batch(position, 'x'));
    slow.reading = true;
    slow.read();
    tail.publish(batch(3000n, 'a', 'b', 'c'));
    await eventually(() => messages(slow).includes('c'));
    expect(messages(slow).slice(1)).to.deep.equal(['RESET', 'a', 'b', 'c']);
    tail.close();
  });

  it('repeats a whole batch for a client that left within it', async () => {
    const tail = start();
    const slow = record();
    slow.reading = false;
    tail.connect(EVERYTHING, undefined, slow);
    tail.publish(batch(1n, large('one'), large('two'), 'three'));
    await eventually(() => slow.sent.length === 1);
    slow.leave();
    const back = record();
    tail.connect(EVERYTHING, slow.cursor(), back);
    await eventually(() => messages(back).at(-1) === 'three');
    expect(messages(back)).to.deep.equal(['one..', 'two..', 'three']);
    tail.close();
  });

  it('advances its cursor with events that are not batches', async () => {
    let reads = 0;
    const tail = start({
      head: async () => {
        reads++;
        return 10n;
      },
    });
    tail.publish(batch(1n, 'a'));
    tail.publish(eventAt(9n, 'PolicyChanged', {}) as never);
    const client = record();
    tail.connect(EVERYTHING, 9n, client);
    expect(client.cursor()).to.equal(9n);
    expect(reads).to.equal(0);
    tail.close();
  });

  it('buffers a few megabytes of large batches at most', () => {
    const tail = start();
    for (let position = 1n; position <= 100n; position++) tail.publish(batch(position, 'x'.repeat(200_000)));
    expect(tail.bufferedBytes()).to.be.within(4 * 1024 * 1024, 8 * 1024 * 1024);
    tail.close();
  });
});
