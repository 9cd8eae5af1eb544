/** The task that appends to the transparency log: when it signs, and that it ends with its lease. */
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { type AuditPorts, auditTask, createSigner, type StoredEvent } from '../../../application/audit/index.js';
import type { Batch, Lease, Logger } from '../../../application/ports/index.js';
import { fakeClock } from '../../support/fake-clock.js';
import { memoryTreeStore } from '../../support/memory-tree-store.js';

const MINUTE_MS = 60_000;

const eventNumber = (number: number): StoredEvent => ({
  id: String(number),
  stream: 'toys.toy-1',
  revision: BigInt(number),
  position: BigInt(number + 1),
  type: 'toys.ToyPut.v1',
  recordedAt: number,
  data: '{}',
  metadata: '{}',
});

describe('the task of the transparency log', () => {
  const time = fakeClock();
  const stop = new AbortController();
  const memory = memoryTreeStore();
  const waiting: StoredEvent[][] = [];
  let written = 0;
  let isEnded = false;
  let wake = () => {};
  let running: Promise<void>;

  before(() => {
    async function* followStored(): AsyncGenerator<Batch<StoredEvent>> {
      try {
        while (!stop.signal.aborted) {
          const events = waiting.shift();
          if (events) yield { events, caughtUp: true };
          else
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
        }
      } finally {
        isEnded = true;
      }
    }
    const ports: AuditPorts = {
      store: memory.store,
      followStored,
      eventAt: async () => ({ head: 0n }),
      signer: async (keyNumber) => createSigner('annals', Buffer.alloc(32, keyNumber)),
      prefixes: [],
      logger: {} as Logger,
    };
    const wait = (ms: number) => new Promise<void>((resolve) => void time.after(ms, resolve));
    running = auditTask(ports, wait)({ assertHeld() {} } as Lease, stop.signal);
  });

  const settle = async () => {
    for (let turn = 0; turn < 50; turn++) await setImmediate();
  };
  const write = async (count: number) => {
    waiting.push(Array.from({ length: count }, () => eventNumber(written++)));
    wake();
    await settle();
  };
  const size = async () => (await memory.store.head())?.size;

  it('signs every minute', async () => {
    await write(1);
    time.pass(MINUTE_MS - 1);
    await write(1);
    expect(await size()).to.equal(undefined);
    time.pass(1);
    await settle();
    // The first entry is that of the key.
    expect(await size()).to.equal(3);
    await write(1);
    time.pass(MINUTE_MS - 1);
    await settle();
    expect(await size()).to.equal(3);
    time.pass(1);
    await settle();
    expect(await size()).to.equal(4);
  });

  it('signs nothing while nothing happens', async () => {
    const { checkpoint } = (await memory.store.head())!;
    time.pass(10 * MINUTE_MS);
    await settle();
    expect((await memory.store.head())?.checkpoint).to.equal(checkpoint);
  });

  it('signs with a new key within a minute, also while nothing happens', async () => {
    await memory.store.nextKey();
    time.pass(MINUTE_MS);
    await settle();
    const { key, checkpoint } = (await memory.store.head())!;
    expect(key).to.equal(createSigner('annals', Buffer.alloc(32, 2)).verifier.line);
    expect(checkpoint?.match(/^— /gm)).to.have.length(2);
  });

  it('signs as soon as a thousand events are not covered', async () => {
    await write(999);
    expect(await size()).to.equal(5);
    await write(1);
    expect(await size()).to.equal(1005);
  });

  it('ends with its lease, and its subscription with it', async () => {
    stop.abort();
    wake();
    await running;
    await settle();
    expect(isEnded).to.equal(true);
  });
});
