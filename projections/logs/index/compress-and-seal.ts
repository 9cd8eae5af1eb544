/** How the rows of the index hold what may not stand in clear: packed, sealed, or digested, under the key of a subject. */
import { promisify } from 'node:util';
import { isMainThread } from 'node:worker_threads';
import { deflateRaw, deflateRawSync, inflateRaw, inflateRawSync } from 'node:zlib';
import { Binary } from 'mongodb';
import type { Vault } from '../../../application/ports/index.js';
import type { BlockRow } from './rows.js';

/** Off the event loop of those who serve people: a block takes some ms. A thread for searching does it by itself. */
const deflate = promisify(deflateRaw);
const inflate = isMainThread ? promisify(inflateRaw) : inflateRawSync;
/** What is as short as this takes several times longer on its way there and back: this much, one ms or two. */
const SHORT_CHARACTERS = 64 * 1024;
const SHORT_BYTES = 1280;
/** Unpacked, what is short may be a thousand times as long, but here it holds little else than counts. */
const PACKED_TIGHTLY = 16;
const LEVEL = { level: 1 };
/** Whoever packs is given room for all of what comes of it: each piece more is another trip to a thread. */
const LARGE = { ...LEVEL, chunkSize: 64 * 1024 };
/** With no more memory than it needs: to get that and to clear it takes longer than to pack what is short. */
const SMALL = { ...LEVEL, windowBits: 10, memLevel: 2, chunkSize: SHORT_BYTES };
const MIDDLE = { ...LEVEL, windowBits: 13, memLevel: 6, chunkSize: 4096 };

/** Undefined when the key is destroyed. */
export async function sealPacked(
  vault: Vault,
  subject: string,
  text: string | Uint8Array,
): Promise<Binary | undefined> {
  return sealed(vault, subject, packedSync(text) ?? (await deflate(text, LARGE)));
}

/** Undefined for what is not short. */
function packedSync(text: string | Uint8Array): Buffer | undefined {
  if (text.length > SHORT_CHARACTERS) return undefined;
  return deflateRawSync(text, text.length > SHORT_BYTES ? MIDDLE : SMALL);
}

/** Undefined when the key is destroyed. */
export async function openPacked(vault: Vault, subject: string, from: Binary): Promise<Buffer | undefined> {
  const packed = await vault.openBytes(subject, from.buffer);
  if (!packed || packed.length > SHORT_BYTES / PACKED_TIGHTLY) return packed && inflate(packed);
  return inflateRawSync(packed);
}

/** The texts of a block's pieces, without those whose key is destroyed. */
export async function openTexts(vault: Vault, { subject, records = [] }: SealedTexts): Promise<readonly string[]> {
  const texts = await Promise.all(records.map((each) => openPacked(vault, subject, each)));
  return texts.flatMap((text) => (text ? [text.toString()] : []));
}

type SealedTexts = Pick<BlockRow, 'subject' | 'records'>;

export async function sealed(vault: Vault, subject: string, bytes: Uint8Array): Promise<Binary | undefined> {
  const some = await vault.sealBytes(subject, bytes);
  return some && new Binary(some);
}

/** Hexadecimal: 32 bits. */
const DIGEST_DIGITS = 8;

/** Digests of correlation ids, short as they are only looked for: now and then a block is opened in vain. */
export async function correlationDigester(
  vault: Vault,
  subject: string,
): Promise<((id: string) => number) | undefined> {
  const digest = await vault.digester(subject, 'logs.correlation');
  if (!digest) return undefined;
  return (id) => Number.parseInt(digest(id).slice(0, DIGEST_DIGITS), 16) | 0;
}
