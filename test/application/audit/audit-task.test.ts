/** The task that appends to the transparency log: when it signs, and that it ends with its lease. */
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { type AuditPorts, auditTask, createSigner, type StoredEvent } from '../../../application/audit/index.js';
import type { Batch, Lease, Logger } from '../../../application/ports/index.js';
import { fakeClock } from '../../support/fake-clock.js';
import { memoryTreeStore } from '../../support/memory-tree-store.js';

const MINUTE_MS = 60_000;
/** Between two reads of new events. */
const PASS_MS = 5000;

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
  const events: StoredEvent[] = [];
  let subscriptions = 0;
  let running: Promise<void>;

  before(() => {
    async function* followStored({ from }: { readonly from: bigint | 'start' }): AsyncGenerator<Batch<StoredEvent>> {
      subscriptions++;
      try {
        yield { events: events.filter(({ position }) => from === 'start' || position > from), caughtUp: true };
        await new Promise(() => {});
      } finally {
        subscriptions--;
      }
    }
    const ports: AuditPorts = {
      store: memory.store,
      followStored,
      eventAt: async () => ({ head: 0n }),
      signer: async (keyNumber) => createSigner('annals', Buffer.alloc(32, keyNumber)),
      prefixes: [],
      witnesses: [],
      logger: {} as Logger,
    };
    const wait = (ms: number) => new Promise<void>((resolve) => void time.after(ms, resolve));
    running = auditTask(ports, wait)({ assertHeld() {} } as Lease, stop.signal);
  });

  const settle = async () => {
    for (let turn = 0; turn < 50; turn++) await setImmediate();
  };
  const pass = async (ms: number) => {
    await settle();
    for (let passed = 0; passed < ms; passed += PASS_MS) {
      time.pass(PASS_MS);
      await settle();
    }
  };
  const write = (count: number) => {
    for (let at = 0; at < count; at++) events.push(eventNumber(events.length));
  };
  const size = async () => (await memory.store.head())?.size;

  it('signs every minute', async () => {
    write(1);
    await pass(MINUTE_MS - PASS_MS);
    write(1);
    expect(await size()).to.equal(undefined);
    await pass(PASS_MS);
    // The first entry is that of the key. What is written after the last read of the minute waits for the next one.
    expect(await size()).to.equal(2);
    write(1);
    await pass(MINUTE_MS - PASS_MS);
    expect(await size()).to.equal(2);
    await pass(PASS_MS);
    expect(await size()).to.equal(4);
  });

  it('signs nothing while nothing happens', async () => {
    const { checkpoint } = (await memory.store.head())!;
    await pass(10 * MINUTE_MS);
    expect((await memory.store.head())?.checkpoint).to.equal(checkpoint);
  });

  it('signs with a new key within a minute, also while nothing happens', async () => {
    await memory.store.nextKey();
    await pass(MINUTE_MS);
    const { key, checkpoint } = (await memory.store.head())!;
    expect(key).to.equal(createSigner('annals', Buffer.alloc(32, 2)).verifier.line);
    expect(checkpoint?.match(/^— /gm)).to.have.length(2);
  });

  it('signs as soon as it reads that a thousand events are not covered', async () => {
    write(999);
    await pass(PASS_MS);
    expect(await size()).to.equal(5);
    write(1);
    await pass(PASS_MS);
    expect(await size()).to.equal(1005);
  });

  it('ends with its lease, and has no subscription between its reads', async () => {
    expect(subscriptions).to.equal(0);
    stop.abort();
    time.pass(PASS_MS);
    await running;
  });
});
