/**
 * Command handling over a log and keys in memory, shared by several nodes of one world. The tests of
 * `test/application/command/two-nodes.ts` pass on it as on real servers.
 */
import { silentLogger } from '@annals/engines/testing/engines.js';
import type { JSONEventData, ResolvedEvent } from '@eventstore/db-client';
import { aes256gcm } from '../../adapters/crypto/cipher.js';
import { createDerivation } from '../../adapters/crypto/derivation.js';
import { createCodec } from '../../adapters/eventstore/codec.js';
import { createAggregateStore } from '../../application/command/aggregate-store.js';
import { newCommandId } from '../../application/command/event-envelope.js';
import { createHandleCommand, type HandleOptions } from '../../application/command/handle-command.js';
import { createIdempotency } from '../../application/command/idempotency.js';
import { createProjectionProgress } from '../../application/consistency/projection-progress.js';
import type { Clock, EventLog, Subscribe } from '../../application/ports/index.js';
import {
  createEventDecryptor,
  createUndecryptableCounter,
  treatAsErased,
} from '../../application/secrets/decrypt-events.js';
import { createVault, type KeyStore } from '../../application/secrets/vault.js';
import type { Catalog } from '../../domain/shared/decider.js';
import { checkpointsInMemory, leasesInMemory } from './memory-ports.js';

interface Stored extends JSONEventData {
  readonly streamId: string;
  readonly revision: number;
  readonly commit: bigint;
}

type World = ReturnType<typeof memoryWorld>;

export function memoryWorld() {
  const all: Stored[] = [];
  const keys = new Map<string, Buffer | 'destroyed'>();
  const store: KeyStore = {
    async create(subject, fresh) {
      const key = keys.get(subject) ?? fresh;
      keys.set(subject, key);
      return key === 'destroyed' ? undefined : key;
    },
    async renew(subject, fresh) {
      if (keys.get(subject) === 'destroyed') keys.delete(subject);
      return store.create(subject, fresh);
    },
    read: async (subject) => keys.get(subject),
    async destroy(subject) {
      keys.set(subject, 'destroyed');
    },
  };
  const { leases, held } = leasesInMemory();
  return {
    all,
    ended: new Set<string>(),
    most: new Map<string, number>(),
    keys: store,
    checkpoints: checkpointsInMemory().checkpoints,
    leases,
    /** Names of held leases; removing one loses it without notifying its holder. */
    held,
    wakers: new Set<() => void>(),
    installation: aes256gcm.newKey(),
  };
}

const resolved = ({ streamId, revision, commit, ...stored }: Stored) =>
  ({
    event: {
      ...stored,
      streamId,
      revision: BigInt(revision),
      position: { commit, prepare: commit },
      created: new Date(1_800_000_000_000 + Number(commit)),
    },
  }) as unknown as ResolvedEvent;

export type MemoryKernel = ReturnType<typeof memoryKernel>;

/** One node of a world. */
export function memoryKernel(world: World, catalogs: readonly Catalog[], clock: Clock = Date) {
  const unopened = createUndecryptableCounter(silentLogger, () => {});
  const memoryVault = createVault(world.keys, aes256gcm);
  const vault = treatAsErased(memoryVault, unopened.onUndecryptable);
  const codec = createCodec(catalogs, vault);
  const of = (stream: string) => world.all.filter(({ streamId }) => streamId === stream);

  const log: EventLog = {
    async append(stream, expected, events) {
      if (expected !== 'none' && expected < 0) throw new RangeError(`no stream is at revision ${expected}`);
      const encoded: JSONEventData[] = [];
      for (const event of events) {
        const one = await codec.encode(stream, event);
        if (!one) return { outcome: 'deleted' };
        encoded.push(one);
      }
      if (world.ended.has(stream)) return { outcome: 'deleted' };
      const there = of(stream);
      const after = expected === 'none' ? -1 : expected;
      const same = there.slice(after + 1, after + 1 + encoded.length);
      const last = same.at(-1);
      if (last && same.length === encoded.length && same.every(({ id }, at) => id === encoded[at]!.id))
        return { outcome: 'appended', revision: last.revision, position: last.commit };
      // Like a server, which reports no revision for a missing stream.
      if (after !== there.length - 1)
        return { outcome: 'conflict', ...(there.length > 0 && { revision: there.length - 1 }) };
      let [revision, commit] = [after, world.all.at(-1)?.commit ?? 0n];
      for (const one of encoded) {
        commit += 100n;
        world.all.push({ ...one, streamId: stream, revision: ++revision, commit });
      }
      for (const wake of world.wakers) wake();
      return { outcome: 'appended', revision, position: commit };
    },

    async read(stream, { from, backwards = false, limit = Number.POSITIVE_INFINITY } = {}) {
      if (world.ended.has(stream)) return 'deleted';
      const there = of(stream);
      if (there.length === 0) return 'missing';
      const remaining = there.slice(-(world.most.get(stream) ?? there.length));
      const wanted = backwards
        ? remaining.filter(({ revision }) => revision <= (from ?? revision)).reverse()
        : remaining.filter(({ revision }) => revision >= (from ?? 0));
      return wanted.slice(0, limit).flatMap((each) => codec.decode(resolved(each)));
    },

    async retain(stream, { maxCount }) {
      if (maxCount !== undefined) world.most.set(stream, maxCount);
    },

    async tombstone(stream) {
      world.ended.add(stream);
    },
  };

  const follow: Subscribe = async function* ({ from, signal, batchSize = 1000, ...selection }) {
    const isWanted = ({ streamId, type }: Stored) =>
      'prefixes' in selection
        ? selection.prefixes.some((prefix) => streamId.startsWith(prefix))
        : selection.types.some((each) => type.startsWith(`${selection.service}.${each}.v`));
    let position = from === 'start' ? 0n : from;
    while (!signal.aborted) {
      let wake = () => {};
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      world.wakers.add(wake);
      signal.addEventListener('abort', wake, { once: true });
      try {
        const found = world.all.filter((each) => each.commit > position && isWanted(each)).slice(0, batchSize);
        position = found.at(-1)?.commit ?? position;
        yield { events: found.flatMap((each) => codec.decode(resolved(each))), position, caughtUp: true };
        if (world.all.every((each) => each.commit <= position || !isWanted(each)) && !signal.aborted) await woken;
      } finally {
        world.wakers.delete(wake);
        signal.removeEventListener('abort', wake);
      }
    }
  };

  const decryptEvent = createEventDecryptor(memoryVault, unopened.onUndecryptable);
  const decryptLiveEvent = createEventDecryptor(memoryVault, unopened.onUndecryptable, { live: true });
  const aggregates = createAggregateStore(log, decryptEvent);
  const projectionProgress = createProjectionProgress(async () => undefined);
  const appended = projectionProgress.appended;
  const { idempotency, handle } = commandsOf({ log, aggregates, clock, appended });
  return {
    log,
    follow,
    vault,
    decryptEvent,
    decryptLiveEvent,
    unopened: unopened.count,
    aggregates,
    handle,
    idempotency,
    projectionProgress,
    appended,
    checkpoints: world.checkpoints,
    leases: world.leases,
    derivation: createDerivation(world.installation),
    head: async () => world.all.at(-1)?.commit ?? 0n,
    systemContext(actor: string) {
      const commandId = newCommandId();
      return { commandId, actor, correlationId: commandId };
    },
    async close() {},
  };
}

type Parts = Pick<HandleOptions, 'log' | 'aggregates'> &
  Partial<HandleOptions> & {
    readonly clock?: Clock;
  };

/** Creates the command handler and its idempotency. */
export function commandsOf({ clock = Date, appended = () => {}, ...parts }: Parts) {
  const idempotency = createIdempotency({ aggregates: parts.aggregates, clock, appended });
  const common = { release: 'test', logger: silentLogger, conflicted() {} };
  return { idempotency, handle: createHandleCommand({ ...common, ...parts, appended, idempotency }) };
}
