/** Cuts the bytes of a connection into whole messages. */

/** The largest message the server takes. */
export const MAX_MESSAGE = 48_000_000;
const HEADER = 16;

/** Collects chunks and calls `take` with each whole message. */
export class Framer {
  #chunks: Buffer[] = [];
  #size = 0;
  #wanted = 4;

  /** `longest` is asked before each message how many bytes it may have. */
  constructor(
    readonly take: (message: Buffer) => void,
    readonly longest: () => number = () => MAX_MESSAGE,
  ) {}

  /** Errors: a message whose length cannot be; nothing more can be read then. */
  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#wanted) return;
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    let at = 0;
    this.#wanted = 4;
    while (bytes.length - at >= 4) {
      const length = bytes.readInt32LE(at);
      if (length < HEADER || length > this.longest()) throw new RangeError(`a message of ${length} bytes`);
      if (bytes.length - at < length) {
        this.#wanted = length;
        break;
      }
      this.take(bytes.subarray(at, at + length));
      at += length;
    }
    this.#chunks = at < bytes.length ? [bytes.subarray(at)] : [];
    this.#size = bytes.length - at;
  }
}
