/** The aggregate store on the servers, and the memory it accounts for. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { estimateBytes } from '../../../application/concurrency/limiters.js';
import { rememberingStreams } from './aggregate-store-suite.js';
import { recallingCommands } from './idempotency-suite.js';
import { onServers } from './two-nodes.js';

describe('the aggregate store', () => {
  rememberingStreams(onServers);

  it('estimates the memory of aggregates', () => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as () => void;
    const lists = (index: number) => ({
      digests: Array.from({ length: 40 }, (_, each) => `${index}-${each}-`.padEnd(22, 'x')),
      recent: Array.from({ length: 40 }, (_, each) => ({
        at: 1.7e12 + each,
        by: `${index}`.padEnd(22, 'y'),
      })),
    });
    const texts = Array.from({ length: 2000 }, (_, index) => JSON.stringify(lists(index)));
    const commands = (index: number) =>
      Array.from(
        { length: 40 },
        (_, each) => [`${index}.${each}`.padEnd(22, 'z'), { first: each, last: each }] as const,
      );
    gc();
    const before = process.memoryUsage().heapUsed;
    const copies = texts.map((text, index) => ({ ...JSON.parse(text), commands: new Map(commands(index)) }));
    gc();
    const taken = process.memoryUsage().heapUsed - before;
    const counted = copies.reduce((sum: number, each: unknown) => sum + estimateBytes(each), 0);
    expect(counted / taken).to.be.within(0.6, 1.7);
  });
});

describe('commands with a key', () => recallingCommands(onServers));
