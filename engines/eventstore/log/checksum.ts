/**
 * Adds checksums over key and value to small values. lmdb has none, and a stream name corrupted by a failing disk
 * would silently become another stream.
 */
import { crc32 } from 'node:zlib';

const CHECKSUM = 4;

/** Returns the value to store under the key. */
export function withChecksum(key: Buffer, bytes: Buffer): Buffer {
  const checksum = Buffer.allocUnsafe(CHECKSUM);
  checksum.writeUInt32LE(crc32(bytes, crc32(key)));
  return Buffer.concat([bytes, checksum]);
}

/** Verifies key and value. `bytes` is the value's length without checksum. */
export function hasValidChecksum(key: Buffer, value: Buffer, bytes: number): boolean {
  if (value.length !== bytes + CHECKSUM) return false;
  return crc32(value.subarray(0, bytes), crc32(key)) === value.readUInt32LE(bytes);
}
