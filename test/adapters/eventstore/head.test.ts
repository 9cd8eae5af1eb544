/** The position of the newest event of the log. */
import { PassThrough } from 'node:stream';
import type { EventStoreDBClient, ResolvedEvent } from '@eventstore/db-client';
import { expect } from 'chai';
import { readHeadPosition } from '../../../adapters/eventstore/subscription.js';
import { stored } from './fake-driver.js';

describe('the head of the log', () => {
  it('is the position of the newest event, and undefined for an empty log', async () => {
    const calls: unknown[] = [];
    const log = (found: readonly ResolvedEvent[]) =>
      ({
        readAll(options: unknown) {
          calls.push(options);
          const reading = new PassThrough({ objectMode: true });
          for (const each of found) reading.write(each);
          return reading.end();
        },
      }) as unknown as EventStoreDBClient;
    expect(await readHeadPosition(log([stored(77)]))).to.equal(77n);
    for (const nothing of [[], [{}], [{ event: {} }]] as ResolvedEvent[][])
      expect(await readHeadPosition(log(nothing))).to.equal(undefined);
    expect(calls[0]).to.deep.equal({ direction: 'backwards', fromPosition: 'end', maxCount: 1 });
  });
});
