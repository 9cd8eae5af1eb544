/**
 * Bytes on their way into the file store, and out of it: sealed in pieces, each under the key of its own file, so that
 * the store holds no word of them and any part of them can be read by itself.
 */
import { createHash } from 'node:crypto';
import { type FileStore, NotStored, type Writing } from '../ports/index.js';
import type { Cipher } from '../secrets/index.js';

/** Of each piece but the last, in clear: sealing one takes a fraction of a millisecond. */
const PIECE = 64 * 1024;
/** Stands before each, and says which it is: none can be put in another's place. */
const NUMBER = 4;
/** What sealing adds: a nonce and a tag. */
const SEAL = 28;
const SEALED = NUMBER + PIECE + SEAL;

/** What is needed to read bytes again. */
export interface BlobRef {
  readonly stored: string;
  /** In bytes, in clear. */
  readonly size: number;
  readonly key: Uint8Array;
}

/** What has come in whole. It comes to nothing unless it is kept. */
export interface IncomingBlob extends BlobRef {
  /** Of the bytes in clear, in hex. */
  readonly sha256: string;
  /** What they begin with. */
  readonly head: Uint8Array;
  /** Resolves when all is flushed; see `Writing`. */
  keep(of: string): Promise<void>;
  /** The log may know of it: from here on `drop` does nothing. */
  release(): void;
  drop(): Promise<void>;
}

/** What is coming in. */
export interface Receiving {
  write(bytes: Uint8Array): Promise<void>;
  /** Resolves when all that was written is with the store. */
  end(): Promise<IncomingBlob>;
  drop(): Promise<void>;
}

export interface SealedFiles {
  receive(): Promise<Receiving>;
  /** The bytes from `from` to before `to`; rejects with `NotStored` for what is not there, or damaged. */
  read(kept: BlobRef, from: number, to: number): AsyncIterable<Uint8Array>;
}

type Bytes = Pick<Cipher, 'newKey' | 'sealBytes' | 'openBytes'>;

/** `headBytes`: how much of the beginning is kept at hand. */
export function createSealedFiles(store: FileStore, cipher: Bytes, headBytes: number): SealedFiles {
  async function* opened({ stored, size, key }: BlobRef, from: number, to: number) {
    if (from >= to) return;
    const first = Math.floor(from / PIECE);
    const pieces = Math.ceil(to / PIECE) - first;
    const most = size + Math.ceil(size / PIECE) * (NUMBER + SEAL);
    const sealed = store.read(stored, first * SEALED, Math.min((first + pieces) * SEALED, most));
    let number = first;
    for await (const piece of inPieces(sealed)) {
      const plain = open(cipher, key, piece, number);
      const start = number * PIECE;
      yield plain.subarray(Math.max(0, from - start), to - start);
      number++;
    }
    if (number < first + pieces) throw new NotStored('less is stored than was');
  }

  return {
    receive: async () => receiving(await store.begin(), cipher, headBytes),
    read: opened,
  };
}

function receiving(writing: Writing, cipher: Bytes, headBytes: number): Receiving {
  const key = cipher.newKey();
  const digest = createHash('sha256');
  const head = Buffer.alloc(headBytes);
  /** The piece that is being filled, behind its number. */
  const piece = Buffer.alloc(NUMBER + PIECE);
  let [filled, number, size] = [0, 0, 0];

  async function flush() {
    piece.writeUInt32BE(number++);
    const sealed = cipher.sealBytes(key, piece.subarray(0, NUMBER + filled));
    filled = 0;
    await writing.write(sealed);
  }

  return {
    async write(bytes) {
      digest.update(bytes);
      if (size < headBytes) head.set(bytes.subarray(0, headBytes - size), size);
      size += bytes.length;
      for (let at = 0; at < bytes.length; ) {
        const some = bytes.subarray(at, at + PIECE - filled);
        piece.set(some, NUMBER + filled);
        filled += some.length;
        at += some.length;
        if (filled === PIECE) await flush();
      }
    },
    async end() {
      if (filled > 0) await flush();
      const { stored, keep } = writing;
      const begun = head.subarray(0, Math.min(size, headBytes));
      let isReleased = false;
      return {
        stored,
        size,
        key,
        sha256: digest.digest('hex'),
        head: begun,
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

function open(cipher: Bytes, key: Uint8Array, sealed: Uint8Array, number: number): Uint8Array {
  let plain: Uint8Array;
  try {
    plain = cipher.openBytes(Buffer.from(key), sealed);
  } catch (cause) {
    throw new NotStored('a piece is damaged', { cause });
  }
  if (Buffer.from(plain.buffer, plain.byteOffset, NUMBER).readUInt32BE() !== number)
    throw new NotStored('a piece stands in the place of another');
  return plain.subarray(NUMBER);
}

/** Sealed pieces as they were written, from pieces as they come. */
async function* inPieces(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for await (const bytes of source) {
    waiting.push(bytes);
    length += bytes.length;
    if (length < SEALED) continue;
    const all = Buffer.concat(waiting);
    let at = 0;
    for (; length - at >= SEALED; at += SEALED) yield all.subarray(at, at + SEALED);
    waiting = at < length ? [all.subarray(at)] : [];
    length -= at;
  }
  if (length > 0) yield Buffer.concat(waiting);
}

/** A key as text, to be sealed itself. */
export const keyText = (key: Uint8Array): string => Buffer.from(key).toString('base64');
export const keyOf = (text: string): Uint8Array => Buffer.from(text, 'base64');
