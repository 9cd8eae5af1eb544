/** Cuts the bytes of a connection into whole messages. */

/** The largest message the server takes. */
export const MAX_MESSAGE = 48_000_000;
const HEADER = 16;
/** Of the header, what says how long the message is. */
const LENGTH = 4;

/** Calls `take` with each whole message. Of one that comes in pieces it holds no more than its bytes. */
export class Framer {
  /** The beginning of a message: of its length, until that is known. */
  #begun = Buffer.alloc(LENGTH);
  #filled = 0;

  /** `longest` is asked before each message how many bytes it may have. */
  constructor(
    readonly take: (message: Buffer) => void,
    readonly longest: () => number = () => MAX_MESSAGE,
  ) {}

  /** Errors: a message whose length cannot be; nothing more can be read then. */
  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) at = this.#filled > 0 ? this.#goOn(chunk, at) : this.#begin(chunk, at);
  }

  /** Most messages come whole, and are not copied. */
  #begin(chunk: Buffer, at: number): number {
    if (chunk.length - at < LENGTH) return this.#goOn(chunk, at);
    const end = at + this.#lengthAt(chunk, at);
    if (chunk.length < end) return this.#goOn(chunk, at);
    this.take(chunk.subarray(at, end));
    return end;
  }

  #goOn(chunk: Buffer, at: number): number {
    const copied = chunk.copy(this.#begun, this.#filled, at);
    this.#filled += copied;
    if (this.#filled === this.#begun.length) this.#fill();
    return at + copied;
  }

  #fill(): void {
    const begun = this.#begun;
    if (begun.length === LENGTH) {
      this.#begun = Buffer.allocUnsafe(this.#lengthAt(begun, 0));
      begun.copy(this.#begun);
      return;
    }
    this.#begun = Buffer.alloc(LENGTH);
    this.#filled = 0;
    this.take(begun);
  }

  #lengthAt(bytes: Buffer, at: number): number {
    const length = bytes.readInt32LE(at);
    if (length < HEADER || length > this.longest()) throw new RangeError(`a message of ${length} bytes`);
    return length;
  }
}
