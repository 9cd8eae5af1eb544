/** Parses and formats event and correlation ids: 16 bytes in memory, text on the wire. */
import { Malformed, type Reader } from './protobuf.js';

const NIL: Buffer = Buffer.alloc(16);

/** Reads a UUID message with text; the driver sends no structured ids. */
export function readUuid(reader: Reader): Buffer {
  let id = NIL;
  while (reader.next()) {
    if (reader.field === 2) id = parseUuid(reader.string());
    else reader.refuse('UUID');
  }
  return id;
}

/** Takes 32 hexadecimal digits, with dashes anywhere or none. */
export function parseUuid(text: string): Buffer {
  const digits = text.replaceAll('-', '');
  // Decoding stops at the first character that is not a hexadecimal digit.
  const id = Buffer.from(digits, 'hex');
  if (digits.length !== 32 || id.length !== 16) throw new Malformed(`"${text.slice(0, 40)}" is no UUID`);
  return id;
}

export function formatUuid(id: Buffer): string {
  const hex = id.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export const isNil = (id: Buffer): boolean => id.equals(NIL);
