/** Encrypted blobs: files are encrypted in chunks with a key per file, so that any range can be read separately. */
import { createHash } from 'node:crypto';
import { type FileStore, NotStored, type Writing } from '../ports/index.js';
import type { Cipher } from './vault.js';

/** Plaintext bytes of a chunk; encrypting one takes a fraction of a millisecond. The last chunk may be shorter. */
const CHUNK = 64 * 1024;
/** Bytes of the chunk number, encrypted with the chunk, so that chunks cannot be swapped. */
const NUMBER = 4;
/** Bytes that encryption adds: nonce and tag. */
const OVERHEAD = 28;
/** Bytes of a full encrypted chunk. */
const ENCRYPTED_CHUNK = NUMBER + CHUNK + OVERHEAD;

/** Reference to a blob, with its key. */
export interface BlobRef {
  readonly stored: string;
  /** Plaintext bytes. */
  readonly size: number;
  readonly key: Uint8Array;
}

/** Completely received blob; discarded unless `keep` is called. */
export interface IncomingBlob extends BlobRef {
  /** Digest of the plaintext, in hex. */
  readonly sha256: string;
  /** First bytes of the plaintext. */
  readonly head: Uint8Array;
  /** Resolves once the blob is flushed; see `Writing`. */
  keep(owner: string): Promise<void>;
  /** Makes `drop` a no-op, because the event log may reference the blob now. */
  release(): void;
  drop(): Promise<void>;
}

/** Upload in progress. */
export interface Receiving {
  write(bytes: Uint8Array): Promise<void>;
  /** Resolves when the store has received everything. */
  end(): Promise<IncomingBlob>;
  drop(): Promise<void>;
}

export interface SealedFiles {
  receive(): Promise<Receiving>;
  /** Reads bytes `from` (inclusive) to `to` (exclusive); throws `NotStored` if they are missing or damaged. */
  read(blob: BlobRef, from: number, to: number): AsyncIterable<Uint8Array>;
}

type BlobCipher = Pick<Cipher, 'newKey' | 'sealBytes' | 'openBytes'>;

/** @param headBytes Bytes of the beginning that `head` returns. */
export function createSealedFiles(store: FileStore, cipher: BlobCipher, headBytes: number): SealedFiles {
  async function* read({ stored, size, key }: BlobRef, from: number, to: number) {
    if (from >= to) return;
    const first = Math.floor(from / CHUNK);
    const chunks = Math.ceil(to / CHUNK) - first;
    const storedSize = size + Math.ceil(size / CHUNK) * (NUMBER + OVERHEAD);
    const end = Math.min((first + chunks) * ENCRYPTED_CHUNK, storedSize);
    const encrypted = store.read(stored, first * ENCRYPTED_CHUNK, end);
    let number = first;
    for await (const chunk of splitChunks(encrypted)) {
      const plain = decryptChunk(cipher, key, chunk, number);
      const start = number * CHUNK;
      yield plain.subarray(Math.max(0, from - start), to - start);
      number++;
    }
    if (number < first + chunks) throw new NotStored('the stored file is shorter than expected');
  }

  return {
    receive: async () => startUpload(await store.begin(), cipher, headBytes),
    read,
  };
}

function startUpload(writing: Writing, cipher: BlobCipher, headBytes: number): Receiving {
  const key = cipher.newKey();
  const digest = createHash('sha256');
  const head = Buffer.alloc(headBytes);
  /** Chunk being filled, after its number. */
  const chunk = Buffer.alloc(NUMBER + CHUNK);
  let [filled, number, size] = [0, 0, 0];

  async function flush() {
    chunk.writeUInt32BE(number++);
    const sealed = cipher.sealBytes(key, chunk.subarray(0, NUMBER + filled));
    filled = 0;
    await writing.write(sealed);
  }

  return {
    async write(bytes) {
      digest.update(bytes);
      if (size < headBytes) head.set(bytes.subarray(0, headBytes - size), size);
      size += bytes.length;
      for (let at = 0; at < bytes.length; ) {
        const part = bytes.subarray(at, at + CHUNK - filled);
        chunk.set(part, NUMBER + filled);
        filled += part.length;
        at += part.length;
        if (filled === CHUNK) await flush();
      }
    },
    async end() {
      if (filled > 0) await flush();
      const { stored, keep } = writing;
      const start = head.subarray(0, Math.min(size, headBytes));
      let isReleased = false;
      return {
        stored,
        size,
        key,
        sha256: digest.digest('hex'),
        head: start,
        keep,
        release() {
          isReleased = true;
        },
        drop: async () => {
          if (!isReleased) await writing.drop();
        },
      };
    },
    drop: writing.drop,
  };
}

function decryptChunk(cipher: BlobCipher, key: Uint8Array, sealed: Uint8Array, number: number): Uint8Array {
  let plain: Uint8Array;
  try {
    plain = cipher.openBytes(Buffer.from(key), sealed);
  } catch (cause) {
    throw new NotStored('a chunk of the stored file is damaged', { cause });
  }
  if (Buffer.from(plain.buffer, plain.byteOffset, NUMBER).readUInt32BE() !== number)
    throw new NotStored('chunks of the stored file are in the wrong order');
  return plain.subarray(NUMBER);
}

/** Splits a byte stream into encrypted chunks. */
async function* splitChunks(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let buffered: Uint8Array[] = [];
  let length = 0;
  for await (const bytes of source) {
    buffered.push(bytes);
    length += bytes.length;
    if (length < ENCRYPTED_CHUNK) continue;
    const all = Buffer.concat(buffered);
    let at = 0;
    for (; length - at >= ENCRYPTED_CHUNK; at += ENCRYPTED_CHUNK) yield all.subarray(at, at + ENCRYPTED_CHUNK);
    buffered = at < length ? [all.subarray(at)] : [];
    length -= at;
  }
  if (length > 0) yield Buffer.concat(buffered);
}

/** A key as text, to be sealed itself. */
export const keyText = (key: Uint8Array): string => Buffer.from(key).toString('base64');
export const keyOf = (text: string): Uint8Array => Buffer.from(text, 'base64');
