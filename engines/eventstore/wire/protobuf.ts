/** Minimal protobuf: a bounds-checked reader, and a writer into one buffer of known size. */

/** The bytes are not a message of the expected shape. */
export class Malformed extends Error {}

const OUTSIDE = 'the message ends inside a field';

/** Reads one message. Every read is checked against its end, so truncated input throws `Malformed`. */
export class Reader {
  #wire = 0;
  field = 0;

  constructor(
    readonly bytes: Buffer,
    private at = 0,
    private readonly end = bytes.length,
  ) {}

  /** Steps to the next field; false at the end of the message. */
  next(): boolean {
    if (this.at >= this.end) return false;
    const tag = this.#varint();
    this.#wire = tag & 7;
    this.field = Math.floor(tag / 8);
    if (this.field === 0) throw new Malformed('field number 0');
    return true;
  }

  /** An unsigned number up to 2^53; throws for larger ones. */
  number(): number {
    this.#expect(0);
    const value = this.#varint();
    if (value > Number.MAX_SAFE_INTEGER) throw new Malformed('a number above 2^53');
    return value;
  }

  boolean(): boolean {
    this.#expect(0);
    return this.#varint() !== 0;
  }

  /** Any unsigned 64-bit number. */
  uint64(): bigint {
    this.#expect(0);
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new Malformed('a number of more than 10 bytes');
  }

  /** The bytes of the field, not copied. */
  data(): Buffer {
    const start = this.#lengthDelimited();
    return this.bytes.subarray(start, this.at);
  }

  string(): string {
    const start = this.#lengthDelimited();
    return this.bytes.toString('utf8', start, this.at);
  }

  message(): Reader {
    const start = this.#lengthDelimited();
    return new Reader(this.bytes, start, this.at);
  }

  /** Skips a field that is a number or length-delimited. */
  skip(): void {
    if (this.#wire === 0) this.#varint();
    else this.#lengthDelimited();
  }

  /** Throws for an unknown field. Call it in the default branch of every message, so that no input is ignored. */
  refuse(message: string): never {
    throw new Malformed(`${message} has no field ${this.field} here`);
  }

  #lengthDelimited(): number {
    this.#expect(2);
    const length = this.#varint();
    const start = this.at;
    if (length > this.end - start) throw new Malformed(OUTSIDE);
    this.at = start + length;
    return start;
  }

  #expect(wire: number): void {
    if (this.#wire !== wire) throw new Malformed(`field ${this.field} has wire type ${this.#wire}`);
  }

  #byte(): number {
    if (this.at >= this.end) throw new Malformed(OUTSIDE);
    return this.bytes[this.at++]!;
  }

  #varint(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 10; i++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
    throw new Malformed('a number of more than 10 bytes');
  }
}

/** Bytes of `n` as a varint. */
export function varintSize(n: number): number {
  let size = 1;
  for (let rest = n; rest >= 128; rest = Math.floor(rest / 128)) size++;
  return size;
}

/** Bytes of a length-delimited field (number below 16) that holds `n` bytes. */
export const fieldSize = (n: number): number => 1 + varintSize(n) + n;

/** Writes fields in order into a buffer of the size computed by the caller. */
export class Writer {
  readonly bytes: Buffer;

  constructor(
    size: number,
    public at = 0,
  ) {
    this.bytes = Buffer.allocUnsafe(size);
  }

  /** Writes the head of a length-delimited field; its `length` bytes follow. */
  open(field: number, length: number): this {
    this.bytes[this.at++] = field * 8 + 2;
    return this.varint(length);
  }

  number(field: number, value: number): this {
    this.bytes[this.at++] = field * 8;
    return this.varint(value);
  }

  data(field: number, value: Uint8Array): this {
    this.open(field, value.length);
    return this.raw(value);
  }

  /** Writes text of known length in bytes. */
  text(field: number, value: string, length: number): this {
    this.open(field, length);
    this.at += this.bytes.write(value, this.at);
    return this;
  }

  raw(value: Uint8Array): this {
    this.bytes.set(value, this.at);
    this.at += value.length;
    return this;
  }

  varint(value: number): this {
    let rest = value;
    while (rest >= 128) {
      this.bytes[this.at++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    this.bytes[this.at++] = rest;
    return this;
  }
}

const NOTHING: Buffer = Buffer.alloc(0);

/** Encodes a length-delimited field on its own, for messages that are sent rarely. */
export function field(number: number, value: Buffer | string): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value) : value;
  return new Writer(fieldSize(bytes.length)).data(number, bytes).bytes;
}

/** Encodes a number field on its own. Signed and large values are passed as bigint. */
export function numberField(number: number, value: number | bigint): Buffer {
  const bytes = [number * 8];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 128n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

/** Concatenates fields. In a oneof, an empty message counts as present. */
export const message = (...fields: readonly (Buffer | undefined)[]): Buffer =>
  Buffer.concat(fields.map((bytes) => bytes ?? NOTHING));
