/**
 * Small values with a checksum of their key and of them: lmdb has none of its own, and a name that is misspelt by a
 * failing disk would be a stream that nobody has ever heard of.
 */
import { crc32 } from 'node:zlib';

const CHECKSUM = 4;

/** The value to store under the key. */
export function checked(key: Buffer, bytes: Buffer): Buffer {
  const checksum = Buffer.allocUnsafe(CHECKSUM);
  checksum.writeUInt32LE(crc32(bytes, crc32(key)));
  return Buffer.concat([bytes, checksum]);
}

/** Whether key and value, which has so many bytes without its checksum, are what was written. Of those of before checksums nobody knows. */
export function isChecked(key: Buffer, value: Buffer, bytes: number): boolean {
  if (value.length === bytes) return true;
  if (value.length !== bytes + CHECKSUM) return false;
  return crc32(value.subarray(0, bytes), crc32(key)) === value.readUInt32LE(bytes);
}
