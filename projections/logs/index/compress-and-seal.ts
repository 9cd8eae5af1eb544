/** Compresses, encrypts and digests index content under a subject's key. */
import { promisify } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib';
import { Binary } from 'mongodb';
import type { Vault } from '../../../application/ports/index.js';
import type { BlockRow } from './rows.js';

/** On the main thread off the event loop, since a block takes some ms; a search thread decompresses synchronously. */
const deflate = promisify(deflateRaw);
const inflate = isMainThread ? promisify(inflateRaw) : inflateRawSync;
/** Below these sizes the thread-pool round trip costs more than the 1-2 ms of synchronous work. */
const SHORT_CHARACTERS = 64 * 1024;
const SHORT_BYTES = 1280;
/** Assumed maximum compression ratio of short content, mostly counts; deflate allows up to 1000. */
const MAX_COMPRESSION = 16;
const LEVEL = { level: 1 };
/** Large output chunks: every further chunk costs a thread-pool round trip. */
const LARGE = { ...LEVEL, chunkSize: 64 * 1024 };
/** Small windows: allocating and clearing zlib's default memory takes longer than compressing short texts. */
const SMALL = { ...LEVEL, windowBits: 10, memLevel: 2, chunkSize: SHORT_BYTES };
const MIDDLE = { ...LEVEL, windowBits: 13, memLevel: 6, chunkSize: 4096 };

export async function compressAndSeal(
  vault: Vault,
  subject: string,
  text: string | Uint8Array,
): Promise<Binary | undefined> {
  if (text.length > SHORT_CHARACTERS) return sealBytes(vault, subject, await deflate(text, LARGE));
  return sealBytes(vault, subject, deflateRawSync(text, text.length > SHORT_BYTES ? MIDDLE : SMALL));
}

export async function decryptAndInflate(vault: Vault, subject: string, from: Binary): Promise<Buffer | undefined> {
  const compressed = await vault.openBytes(subject, from.buffer);
  if (!compressed || compressed.length > SHORT_BYTES / MAX_COMPRESSION) return compressed && inflate(compressed);
  return inflateRawSync(compressed);
}

/** Decrypted texts of a block's pieces, without those with a destroyed key. */
export async function decryptPieces(
  vault: Vault,
  { subject, records = [] }: Pick<BlockRow, 'subject' | 'records'>,
): Promise<readonly string[]> {
  const texts = await Promise.all(records.map((each) => decryptAndInflate(vault, subject, each)));
  return texts.flatMap((text) => (text ? [text.toString()] : []));
}

export async function sealBytes(vault: Vault, subject: string, bytes: Uint8Array): Promise<Binary | undefined> {
  const ciphertext = await vault.sealBytes(subject, bytes);
  return ciphertext && new Binary(ciphertext);
}

const DIGEST_DIGITS = 6;
const DIGEST_BITS = 24;

/**
 * Digests correlation ids to 32 bits, which is enough for lookups; a collision only costs reading a block. The upper 8
 * are of the part's day (0 if scattered), so that those of a day are together in the index, and inserting them changes few
 * of its pages.
 */
export async function correlationDigester(
  vault: Vault,
  subject: string,
  part: string,
): Promise<((id: string) => number) | undefined> {
  const digest = await vault.digester(subject, 'logs.correlation');
  if (!digest) return undefined;
  const day = Number(part.slice(1)) << DIGEST_BITS;
  return (id) => day | Number.parseInt(digest(id).slice(0, DIGEST_DIGITS), 16);
}
