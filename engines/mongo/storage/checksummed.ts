/**
 * Documents as they are stored: the bytes of the document, then a checksum of its key and of them. lmdb has none of
 * its own, and would hand out what a failing disk or a stray write has made of a page.
 */
import { crc32 } from 'node:zlib';
import { faultOf } from '../bson/validate.js';

const CHECKSUM = 4;

/** The value to store under the key. */
export function sealed(key: Buffer, document: Buffer): Buffer {
  const end = document.length;
  const value = Buffer.allocUnsafe(end + CHECKSUM);
  document.copy(value, 0);
  value.writeUInt32LE(checksumOf(key, document), end);
  return value;
}

/**
 * The document that was stored under the key, not copied; undefined when it is not what was written. Those of before
 * checksums end where they say they do: of them is known whether they are documents at all.
 */
export function opened(key: Buffer, value: Buffer): Buffer | undefined {
  const end = value.length - CHECKSUM;
  if (end < 1) return undefined;
  const length = value.readInt32LE(0);
  if (length === value.length) return faultOf(value) === undefined ? value : undefined;
  if (length !== end) return undefined;
  const document = value.subarray(0, end);
  return checksumOf(key, document) === value.readUInt32LE(end) ? document : undefined;
}

const checksumOf = (key: Buffer, document: Buffer): number => crc32(document, crc32(key));
