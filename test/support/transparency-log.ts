/** A transparency log over an event log in memory, which a test may change. */
import {
  type AuditPorts,
  catchUpTransparencyLog,
  compareLog,
  createSigner,
  explainMissing,
  openCheckpoint,
  type StoredEvent,
  verifyTree,
  type Witness,
} from '../../application/audit/index.js';
import type { Batch, Logger } from '../../application/ports/index.js';
import { memoryTreeStore } from './memory-tree-store.js';

export const eventNumber = (number: number, generation = ''): StoredEvent => ({
  id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}${generation}`,
  stream: `toys.toy-${number % 7}`,
  revision: BigInt(Math.floor(number / 7)),
  position: BigInt(number * 100 + 50),
  type: 'toys.ToyPut.v1',
  recordedAt: 1_800_000_000_000 + number,
  data: JSON.stringify({ number, generation }),
  metadata: '{}',
});

export function transparencyLog(count: number, witnesses: readonly Witness[] = []) {
  const events = Array.from({ length: count }, (_, number) => eventNumber(number));
  const memory = memoryTreeStore();
  const seed = (keyNumber: number) => Buffer.alloc(32, keyNumber);
  async function* followStored({ from }: { readonly from: bigint | 'start' }): AsyncGenerator<Batch<StoredEvent>> {
    const rest = events.filter(({ position }) => from === 'start' || position > from);
    for (let at = 0; at < rest.length; at += 100)
      yield { events: rest.slice(at, at + 100), caughtUp: at + 100 >= rest.length };
    yield { events: [], caughtUp: true };
  }
  const ports: AuditPorts = {
    store: memory.store,
    followStored,
    eventAt: async (position) => ({
      head: events.at(-1)?.position ?? 0n,
      event: events.find((event) => event.position === position),
    }),
    signer: async (keyNumber) => createSigner('annals', seed(keyNumber)),
    prefixes: ['toys.'],
    witnesses,
    logger: { warn() {} } as unknown as Logger,
  };
  const stop = new AbortController();
  const head = async () => (await memory.store.head())!;
  const checkpoint = async (keyNumber = 1) =>
    openCheckpoint((await head()).checkpoint!, [createSigner('annals', seed(keyNumber)).verifier])!;
  return {
    events,
    ...memory,
    ports,
    head,
    checkpoint,
    catchUp: () => catchUpTransparencyLog(ports, stop.signal),
    /** @param first Revision that streams start with. */
    async verify(first: (stream: string) => number | 'missing' | 'deleted' = () => 0, ruled: readonly string[] = []) {
      const log = followStored({ from: 'start' });
      const comparison = await compareLog(verifyTree(await checkpoint(), memory.store.readTile), log, await head());
      const hasRule = async (stream: string) => ruled.includes(stream);
      return { ...comparison, removed: await explainMissing(comparison, async (stream) => first(stream), hasRule) };
    },
  };
}

export type TransparencyLog = ReturnType<typeof transparencyLog>;
