/** Encrypts personal data in snapshots, under the key of the person it is about. */
import { sliceExpired, yieldToEventLoop } from '../concurrency/index.js';
import type { Vault } from '../ports/index.js';
import type { Snapshots } from './fold-snapshots.js';

/** Snapshot part with a secret; undefined once erased. Other parts are stored unencrypted. */
export interface SealedPart {
  /** Owner of the encryption key. */
  readonly subject: string;
  readonly secret?: object | undefined;
}

export interface SnapshotVault {
  /** Undefined if the key is destroyed or lost. */
  readonly sealBytes: Vault['sealBytes'];
  /** Throws `UndecryptableError` for damaged data: the snapshot is unusable then. */
  readonly openBytes: Vault['openBytes'];
}

/** Parts encrypted or decrypted in parallel, because keys come from another server. */
const BATCH_SIZE = 100;

/** Wraps a snapshot store: encrypts on write, decrypts on read. */
export function encryptSnapshots(snapshots: Snapshots, { sealBytes, openBytes }: SnapshotVault): Snapshots {
  async function encryptPart(part: unknown) {
    if (!isSealed(part) || !part.secret) return part;
    const bytes = await sealBytes(part.subject, Buffer.from(JSON.stringify(part.secret)));
    return { ...part, secret: bytes && Buffer.from(bytes).toString('base64') };
  }

  async function decryptPart(part: unknown) {
    if (!isSealed(part) || typeof part.secret !== 'string') return part;
    const bytes = await openBytes(part.subject, Buffer.from(part.secret, 'base64'));
    return { ...part, secret: bytes && JSON.parse(Buffer.from(bytes).toString()) };
  }

  return {
    ...snapshots,
    async read(service, version) {
      const snapshot = await snapshots.read(service, version);
      if (!snapshot) return undefined;
      const parts: unknown[] = [];
      for await (const part of mapParts(snapshot.parts, decryptPart)) parts.push(part);
      return { ...snapshot, parts };
    },
    write: (service, version, position, parts) =>
      snapshots.write(service, version, position, mapParts(parts, encryptPart)),
  };
}

const isSealed = (part: unknown): part is SealedPart =>
  typeof part === 'object' && part !== null && 'subject' in part && typeof part.subject === 'string';

async function* mapParts(
  parts: Iterable<unknown> | AsyncIterable<unknown>,
  change: (part: unknown) => Promise<unknown>,
): AsyncGenerator<unknown> {
  let batch: unknown[] = [];
  for await (const part of parts) {
    batch.push(part);
    if (batch.length < BATCH_SIZE) continue;
    yield* await Promise.all(batch.map(change));
    batch = [];
    if (sliceExpired()) await yieldToEventLoop();
  }
  yield* await Promise.all(batch.map(change));
}
