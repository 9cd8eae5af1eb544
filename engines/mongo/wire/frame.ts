/** Splits the bytes of a connection into messages. */

/** Maximum bytes of a message. */
export const MAX_MESSAGE = 48_000_000;
const HEADER = 16;
/** Bytes of the length at the start of the header. */
const LENGTH = 4;

/** Calls `onMessage` with each complete message. Buffers only the received bytes of a partial one. */
export class Framer {
  /** Start of a message; only its length until that is complete. */
  #partial = Buffer.alloc(LENGTH);
  #filled = 0;

  /** `maxLength` is called before each message and returns its maximum bytes. */
  constructor(
    readonly onMessage: (message: Buffer) => void,
    readonly maxLength: () => number = () => MAX_MESSAGE,
  ) {}

  /** Errors: a message with an invalid length; nothing more can be read then. */
  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; )
      at = this.#filled > 0 ? this.#append(chunk, at) : this.#readMessage(chunk, at);
  }

  /** Most messages arrive whole and are not copied. */
  #readMessage(chunk: Buffer, at: number): number {
    if (chunk.length - at < LENGTH) return this.#append(chunk, at);
    const end = at + this.#lengthAt(chunk, at);
    if (chunk.length < end) return this.#append(chunk, at);
    this.onMessage(chunk.subarray(at, end));
    return end;
  }

  #append(chunk: Buffer, at: number): number {
    const copied = chunk.copy(this.#partial, this.#filled, at);
    this.#filled += copied;
    if (this.#filled === this.#partial.length) this.#fill();
    return at + copied;
  }

  #fill(): void {
    const partial = this.#partial;
    if (partial.length === LENGTH) {
      this.#partial = Buffer.allocUnsafe(this.#lengthAt(partial, 0));
      partial.copy(this.#partial);
      return;
    }
    this.#partial = Buffer.alloc(LENGTH);
    this.#filled = 0;
    this.onMessage(partial);
  }

  #lengthAt(bytes: Buffer, at: number): number {
    const length = bytes.readInt32LE(at);
    if (length < HEADER || length > this.maxLength()) throw new RangeError(`a message of ${length} bytes`);
    return length;
  }
}
