/** Encrypted blobs: nothing is stored in plain text, and any range can be read. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { aes256gcm } from '../../../adapters/crypto/cipher.js';
import { createDirectoryStore } from '../../../adapters/filesystem/directory-store.js';
import { NotStored } from '../../../application/ports/blob-store.js';
import {
  createSealedFiles,
  type IncomingBlob,
  keyOf,
  keyText,
  type SealedFiles,
} from '../../../application/secrets/encrypted-blobs.js';

const PIECE = 64 * 1024;
const HEAD = 100;

describe('encrypted blobs', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let files: SealedFiles;
  before(() => {
    directory = temporaryDirectory();
    files = createSealedFiles(createDirectoryStore(directory.path), aes256gcm, HEAD);
  });
  after(() => directory.remove());

  /** Stores the bytes in writes of the given size. */
  async function store(bytes: Buffer, writeSize = 10_000): Promise<IncomingBlob> {
    const receiving = await files.receive();
    for (let at = 0; at < bytes.length; at += writeSize) await receiving.write(bytes.subarray(at, at + writeSize));
    const received = await receiving.end();
    await received.keep('me');
    return received;
  }

  async function read(blob: Parameters<SealedFiles['read']>[0], from = 0, to = blob.size): Promise<Buffer> {
    const pieces: Uint8Array[] = [];
    for await (const piece of files.read(blob, from, to)) pieces.push(Buffer.from(piece));
    return Buffer.concat(pieces);
  }
  const failing = (reading: Promise<unknown>) =>
    reading.then(
      () => 'read',
      (error: unknown) => error,
    );

  const some = (length: number) => Buffer.from(Array.from({ length }, (_, at) => (at * 31 + (at >> 7)) & 0xff));
  const placeOf = (stored: string) =>
    join(
      directory.path,
      readdirSync(directory.path, { recursive: true, encoding: 'utf8' }).find((each) => each.endsWith(`/${stored}`))!,
    );

  it('return their content of any length, with digest and head', async () => {
    for (const length of [0, 1, HEAD, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 200_000]) {
      const bytes = some(length);
      const received = await store(bytes, 7919);
      expect(received).to.include({ size: length, sha256: createHash('sha256').update(bytes).digest('hex') });
      expect(Buffer.from(received.head).equals(bytes.subarray(0, HEAD)), `${length}`).to.equal(true);
      expect((await read(received)).equals(bytes), `${length}`).to.equal(true);
    }
  });

  it('return any range of their content', async () => {
    const bytes = some(3 * PIECE + 17);
    const received = await store(bytes);
    const place = fc.oneof(fc.nat(bytes.length), fc.constantFrom(0, PIECE - 1, PIECE, PIECE + 1, bytes.length));
    await fc.assert(
      fc.asyncProperty(place, place, async (a, b) => {
        const [from, to] = a < b ? [a, b] : [b, a];
        expect((await read(received, from, to)).equals(bytes.subarray(from, to))).to.equal(true);
      }),
      { numRuns: 40 },
    );
  });

  it('contain no plain text in the store', async () => {
    const { stored } = await store(Buffer.from('the plans of next year '.repeat(10_000)));
    expect(readFileSync(placeOf(stored)).includes('plans')).to.equal(false);
  });

  it('cannot be read with another key', async () => {
    const [one, other] = [await store(some(10)), await store(some(10))];
    expect(await failing(read({ ...one, key: other.key }))).to.be.instanceOf(NotStored);
    expect((await read({ ...one, key: keyOf(keyText(one.key)) })).equals(some(10))).to.equal(true);
  });

  it('are rejected if chunks were changed, swapped or truncated', async () => {
    const chunkSize = PIECE + 32;
    const damages: readonly ((file: Buffer) => Buffer)[] = [
      (file) =>
        Buffer.concat([
          file.subarray(chunkSize, 2 * chunkSize),
          file.subarray(0, chunkSize),
          file.subarray(2 * chunkSize),
        ]),
      (file) => file.subarray(0, 2 * chunkSize),
      (file) => file.subarray(0, -1),
      (file) => {
        file[chunkSize + 100]! ^= 1;
        return file;
      },
    ];
    for (const damage of damages) {
      const received = await store(some(3 * PIECE));
      const place = placeOf(received.stored);
      expect(statSync(place).size).to.equal(3 * chunkSize);
      writeFileSync(place, damage(readFileSync(place)));
      expect(await failing(read(received))).to.be.instanceOf(NotStored);
    }
  });
});
