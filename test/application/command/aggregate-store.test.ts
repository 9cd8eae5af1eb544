/** What is remembered of streams, of those on the servers, and as what it is counted. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { estimateBytes } from '../../../application/concurrency/estimate-size.js';
import { rememberingStreams } from './aggregate-store-suite.js';
import { recallingCommands } from './idempotency-suite.js';
import { onServers } from './two-nodes.js';

describe('remembered streams', () => {
  rememberingStreams(onServers);

  it('are counted as what they take in memory', () => {
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
    const copies = texts.map((text, index) => ({ ...JSON.parse(text), keyed: new Map(commands(index)) }));
    gc();
    const taken = process.memoryUsage().heapUsed - before;
    const counted = copies.reduce((sum: number, each: unknown) => sum + estimateBytes(each), 0);
    expect(counted / taken).to.be.within(0.6, 1.7);
  });
});

describe('commands with a key', () => recallingCommands(onServers));
