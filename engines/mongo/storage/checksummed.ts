/**
 * Adds a checksum over key and bytes to stored documents. lmdb has none, so damage by a failing disk or a stray write
 * would go unnoticed.
 */
import { crc32 } from 'node:zlib';

const CHECKSUM = 4;

/** Returns the value to store under the key. */
export function addChecksum(key: Buffer, document: Buffer): Buffer {
  const end = document.length;
  const value = Buffer.allocUnsafe(end + CHECKSUM);
  document.copy(value, 0);
  value.writeUInt32LE(checksumOf(key, document), end);
  return value;
}

/** Returns the document stored under the key, not copied, or undefined if it is damaged. */
export function verifyChecksum(key: Buffer, value: Buffer): Buffer | undefined {
  const end = value.length - CHECKSUM;
  if (end < CHECKSUM || value.readInt32LE(0) !== end) return undefined;
  const document = value.subarray(0, end);
  return checksumOf(key, document) === value.readUInt32LE(end) ? document : undefined;
}

const checksumOf = (key: Buffer, document: Buffer): number => crc32(document, crc32(key));
