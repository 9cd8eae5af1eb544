/** The law of a start: any snapshot plus the tail of the log gives the same state as the whole log. */
import { randomUUID } from 'node:crypto';
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { aes256gcm } from '../../adapters/crypto/cipher.js';
import type { RecordedEvent } from '../../application/ports/index.js';
import { createVault } from '../../application/secrets/vault.js';
import { type Audience, audienceFold } from '../../application/subscription/audience.js';
import { encryptSnapshots } from '../../application/subscription/encrypted-snapshots.js';
import { restoreFold } from '../../application/subscription/fold-snapshots.js';
import type { Catalog, DomainEvent } from '../../domain/shared/decider.js';
import { PersistentMap } from '../../domain/shared/persistent-map.js';
import { memoryKernel, memoryWorld } from './memory-kernel.js';
import { snapshotsInMemory } from './memory-ports.js';

/** An event in its stream, and the id of its command if it had one. */
export interface Step {
  readonly stream: string;
  readonly event: DomainEvent;
  readonly commandId?: string | undefined;
}

/** Interleaves the steps of several streams, keeping the order of each; `which` selects the stream of the next step. */
export function interleaved(streams: readonly (readonly Step[])[], which: readonly number[]): Step[] {
  const left = streams.map((steps) => [...steps]);
  const all: Step[] = [];
  for (const each of which) all.push(...left[each % left.length]!.splice(0, 1));
  return [...all, ...left.flat()];
}

/** Normalises states for comparison: ignores the insertion order of maps, and undefined members. */
export const plain = (state: unknown): unknown =>
  JSON.parse(
    JSON.stringify(state, (_, value) => {
      if (typeof value === 'bigint') return String(value);
      return value instanceof PersistentMap ? [...value].sort(([a], [b]) => (a < b ? -1 : 1)) : value;
    }),
  );

/** Restores states from a log in memory. */
export async function starting<State, Event extends DomainEvent>(catalog: Catalog, audience: Audience<State, Event>) {
  const world = memoryWorld();
  const node = memoryKernel(world, [catalog]);
  const { snapshots: bare, stored } = snapshotsInMemory();
  const snapshots = encryptSnapshots(bare, {
    sealBytes: node.vault.sealBytes,
    // A new vault reports what it cannot open, and has no destroyed key in its cache.
    openBytes: (...sealed) => createVault(world.keys, aes256gcm).openBytes(...sealed),
  });
  const revisions = new Map<string, number>();
  const { signal } = new AbortController();
  const decryptEvent = (event: RecordedEvent) => node.decryptEvent(catalog, event);
  const fold = audienceFold(audience);
  const form = fold.snapshot!;
  const read: RecordedEvent[] = [];
  const warnings: unknown[] = [];
  const counted = {
    log: {
      async read(...args: Parameters<typeof node.log.read>) {
        const found = await node.log.read(...args);
        if (typeof found !== 'string') read.push(...found);
        return found;
      },
    },
    follow: (options: Parameters<typeof node.follow>[0]) => {
      const batches = node.follow(options);
      return (async function* () {
        for await (const batch of batches) {
          read.push(...batch.events);
          yield batch;
        }
      })();
    },
  };

  /** Restores the state at a position, from the snapshot or (`whole`) from the log only. */
  async function at(position: bigint, how: 'kept' | 'whole' = 'kept') {
    const from = { horizon: position, from: position };
    const none = { ...snapshots, read: async () => undefined };
    const logger = { ...silentLogger, warn: (...line: unknown[]) => void warnings.push(line) };
    const chosen = how === 'kept' ? snapshots : none;
    read.length = 0;
    return restoreFold(catalog.service, fold, from, {
      ...counted,
      decryptEvent,
      snapshots: chosen,
      logger,
      signal,
    });
  }

  return {
    ...node,
    stored,
    snapshots,
    form,
    read,
    warnings,
    at,
    /** Resolves with the position of the event. */
    async append({ stream, event, commandId }: Step): Promise<bigint> {
      const subject = catalog.events[event.type]!.sealed?.subject(event.data);
      if (subject) await node.vault.create(subject);
      const metadata = commandId === undefined ? {} : { commandId, fingerprint: 'f' };
      const revision = revisions.get(stream) ?? -1;
      const one = { id: randomUUID(), event, metadata };
      const done = await node.log.append(stream, revision < 0 ? 'none' : revision, [one]);
      if (done.outcome !== 'appended') throw new Error(done.outcome);
      revisions.set(stream, done.revision);
      return done.position;
    },
    /** Writes a snapshot of the state at a position. */
    async writeSnapshot(position: bigint) {
      const { state } = await at(position, 'whole');
      await snapshots.write(catalog.service, form.version, position, form.parts(state));
    },
    /** Expects the same state with and without the snapshot at each position. */
    async expectSame(positions: readonly bigint[]) {
      for (const position of positions) {
        const [some, all] = [await at(position), await at(position, 'whole')];
        expect(plain(some.state), `at ${position}`).to.deep.equal(plain(all.state));
      }
    },
  };
}
