/** Padding, so that the size of a ciphertext says little about a text: 4 bytes of length, the content, zeros. */
import { type Bytes, concat } from './bytes.js';

const LENGTH_BYTES = 4;
/** Every shorter content has the same size. */
const MIN_SIZE = 256;

/** Size after padding: Padmé (PURBs, 2019), which leaks O(log log size) bits for at most 12 % more bytes. */
export function paddedSize(size: number): number {
  if (size <= MIN_SIZE) return MIN_SIZE;
  const exponent = Math.floor(Math.log2(size));
  const zeroBits = exponent - (Math.floor(Math.log2(exponent)) + 1);
  const step = 2 ** zeroBits;
  return Math.ceil(size / step) * step;
}

export function pad(content: Uint8Array): Bytes {
  const length = new Uint8Array(LENGTH_BYTES);
  new DataView(length.buffer).setUint32(0, content.length);
  const size = LENGTH_BYTES + content.length;
  return concat(length, content, new Uint8Array(paddedSize(size) - size));
}

/** Throws for bytes that `pad` did not return. */
export function unpad(padded: Bytes): Bytes {
  const length = new DataView(padded.buffer, padded.byteOffset, padded.length).getUint32(0);
  if (length > padded.length - LENGTH_BYTES) throw new TypeError('Not padded');
  return padded.slice(LENGTH_BYTES, LENGTH_BYTES + length);
}

/** The largest content whose padded size is at most `size`. */
export function maxContent(size: number): number {
  let content = size - LENGTH_BYTES;
  while (paddedSize(content + LENGTH_BYTES) > size) content--;
  return content;
}
