/** Snapshots in which nobody is named: what tells who somebody is stands in them sealed, under the key of whom it tells of. */
import { sliceExpired, yieldToEventLoop } from '../concurrency/index.js';
import type { Vault } from '../ports/index.js';
import type { Snapshots } from './restore-fold.js';

/** A part with something to seal; undefined where it is erased. Other parts are written as they are. */
export interface SealedPart {
  /** Whose key seals it. */
  readonly subject: string;
  readonly secret?: object | undefined;
}

export interface Sealing {
  /** Undefined where the key is destroyed, or lost. */
  readonly sealBytes: Vault['sealBytes'];
  /** Rejects with `Unopenable` what is damaged: the snapshot is of no use then. */
  readonly openBytes: Vault['openBytes'];
}

/** Sealed or opened together: their keys come from another server. */
const AT_ONCE = 100;

/** Seals what is written and opens what is read. */
export function encryptSnapshots(snapshots: Snapshots, { sealBytes, openBytes }: Sealing): Snapshots {
  async function sealed(part: unknown) {
    if (!isSealed(part) || !part.secret) return part;
    const bytes = await sealBytes(part.subject, Buffer.from(JSON.stringify(part.secret)));
    return { ...part, secret: bytes && Buffer.from(bytes).toString('base64') };
  }

  async function opened(part: unknown) {
    if (!isSealed(part) || typeof part.secret !== 'string') return part;
    const bytes = await openBytes(part.subject, Buffer.from(part.secret, 'base64'));
    return { ...part, secret: bytes && JSON.parse(Buffer.from(bytes).toString()) };
  }

  return {
    ...snapshots,
    async read(service, version) {
      const found = await snapshots.read(service, version);
      if (!found) return undefined;
      const parts: unknown[] = [];
      for await (const part of each(found.parts, opened)) parts.push(part);
      return { ...found, parts };
    },
    write: (service, version, position, parts) => snapshots.write(service, version, position, each(parts, sealed)),
  };
}

const isSealed = (part: unknown): part is SealedPart =>
  typeof part === 'object' && part !== null && 'subject' in part && typeof part.subject === 'string';

async function* each(
  parts: Iterable<unknown> | AsyncIterable<unknown>,
  change: (part: unknown) => Promise<unknown>,
): AsyncGenerator<unknown> {
  let some: unknown[] = [];
  for await (const part of parts) {
    some.push(part);
    if (some.length < AT_ONCE) continue;
    yield* await Promise.all(some.map(change));
    some = [];
    if (sliceExpired()) await yieldToEventLoop();
  }
  yield* await Promise.all(some.map(change));
}
