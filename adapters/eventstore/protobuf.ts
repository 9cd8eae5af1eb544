/** Reads and writes messages in the protocol buffers wire format. */

/** Field numbers of a map entry. */
export const ENTRY = { key: 1, value: 2 };

export const readFields = (bytes: Buffer): FieldReader => new FieldReader(bytes, 0, bytes.length);

const VARINT = 0;
const LENGTH_DELIMITED = 2;
const FIXED_BYTES: { readonly [wire: number]: number } = { 1: 8, 5: 4 };

/** Reads one message field by field. Throws if it is truncated. */
export class FieldReader {
  private wire = 0;

  constructor(
    private readonly buffer: Buffer,
    private at: number,
    private readonly end: number,
  ) {}

  /** Returns the number of the next field, 0 at the end. */
  next(): number {
    if (this.at >= this.end) return 0;
    const tag = this.number();
    this.wire = tag & 7;
    return tag >>> 3;
  }

  integer(): bigint {
    const from = this.at;
    const value = this.number();
    if (value <= Number.MAX_SAFE_INTEGER) return BigInt(value);
    return this.buffer.subarray(from, this.at).reduceRight((sum, byte) => (sum << 7n) | BigInt(byte & 0x7f), 0n);
  }

  bytes(): Buffer {
    const end = this.limit();
    const bytes = this.buffer.subarray(this.at, end);
    this.at = end;
    return bytes;
  }

  message(): FieldReader {
    const end = this.limit();
    const inner = new FieldReader(this.buffer, this.at, end);
    this.at = end;
    return inner;
  }

  /** Reads a message with one relevant text field; empty if it is missing. */
  textAt(fieldNumber: number): string {
    let text = '';
    for (let field = this.next(); field > 0; field = this.next())
      if (field === fieldNumber) text = this.text();
      else this.skip();
    return text;
  }

  entry(): readonly [key: string, value: string] {
    let [key, value] = ['', ''];
    for (let field = this.next(); field > 0; field = this.next())
      if (field === ENTRY.key) key = this.text();
      else if (field === ENTRY.value) value = this.text();
      else this.skip();
    return [key, value];
  }

  skip(): void {
    if (this.wire === VARINT) this.number();
    else if (this.wire === LENGTH_DELIMITED) this.at = this.limit();
    else this.at += FIXED_BYTES[this.wire] ?? Number.NaN;
  }

  text(): string {
    const end = this.limit();
    const text = this.buffer.toString('utf8', this.at, end);
    this.at = end;
    return text;
  }

  /** Returns where a length-delimited field ends. */
  private limit(): number {
    const end = this.number() + this.at;
    if (end > this.end) throw new RangeError('a message of the event store breaks off');
    return end;
  }

  /** Exact up to 2^53. */
  private number(): number {
    let value = 0;
    for (let factor = 1; this.at < this.end; factor *= 128) {
      const byte = this.buffer[this.at++]!;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw new RangeError('a message of the event store breaks off');
  }
}

/** Writes a message. Field numbers must be at most 15. */
export class Message {
  /** Numbers are varints; texts are encoded directly into the final buffer. */
  readonly #parts: (Uint8Array | string | number)[] = [];
  #length = 0;

  bytes(field: number, value: Uint8Array): this {
    return this.#head(field, LENGTH_DELIMITED, value.length).#add(value, value.length);
  }

  text(field: number, value: string): this {
    const length = Buffer.byteLength(value);
    return this.#head(field, LENGTH_DELIMITED, length).#add(value, length);
  }

  message(field: number, value: Message = new Message()): this {
    this.#head(field, LENGTH_DELIMITED, value.#length);
    for (const part of value.#parts) this.#parts.push(part);
    this.#length += value.#length;
    return this;
  }

  /** From 0 to 2^53. */
  integer(field: number, value: number): this {
    return this.#head(field, VARINT, value);
  }

  encoded(): Buffer {
    const buffer = Buffer.allocUnsafe(this.#length);
    let at = 0;
    for (const part of this.#parts)
      if (typeof part === 'number') at = putVarint(buffer, part, at);
      else if (typeof part === 'string') at += buffer.write(part, at);
      else {
        buffer.set(part, at);
        at += part.length;
      }
    return buffer;
  }

  /** Writes a field's tag and its length or value. */
  #head(field: number, wire: number, value: number): this {
    return this.#add((field << 3) | wire, 1).#add(value, bytesOfVarint(value));
  }

  #add(part: Uint8Array | string | number, length: number): this {
    this.#parts.push(part);
    this.#length += length;
    return this;
  }
}

function bytesOfVarint(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}

function putVarint(buffer: Buffer, value: number, from: number): number {
  let at = from;
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) buffer[at++] = (rest % 0x80) | 0x80;
  buffer[at++] = rest;
  return at;
}
