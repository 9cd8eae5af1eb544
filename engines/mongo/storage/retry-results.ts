/** Format of the stored results of a retryable command: in its session's entry, and in pieces beside it. */

/** Stored state of a session's last command. */
export interface Entry {
  readonly txnNumber: bigint;
  /** Time of its last write, in Unix ms. */
  readonly time: number;
  /** Number of result pieces beside the entry; those in `last` follow them. */
  readonly pieces: number;
  readonly last: Buffer;
}

/** Bytes of transaction number and time. */
const HEAD = 16;
/** In place of the first statement number: the value is the number of pieces. */
const PIECES = -1;

export function writeEntry({ txnNumber, time, pieces, last }: Entry): Buffer {
  const head = Buffer.allocUnsafe(HEAD);
  head.writeBigInt64LE(txnNumber, 0);
  head.writeDoubleLE(time, 8);
  return Buffer.concat(pieces > 0 ? [head, writeResult(PIECES, int32(pieces)), last] : [head, last]);
}

export function readEntry(bytes: Buffer): Entry {
  const [txnNumber, time] = [bytes.readBigInt64LE(0), bytes.readDoubleLE(8)];
  for (const { number, result, end } of readResults(bytes.subarray(HEAD)))
    if (number === PIECES) return { txnNumber, time, pieces: result.readInt32LE(0), last: bytes.subarray(HEAD + end) };
    else break;
  return { txnNumber, time, pieces: 0, last: bytes.subarray(HEAD) };
}

/** Encodes a result after its number and length. */
export function writeResult(number: number, result: Buffer): Buffer {
  return Buffer.concat([int32(number), int32(result.length), result]);
}

/** Decodes results one after another; `end` is the offset of the next one. */
export function* readResults(bytes: Buffer): Generator<{ number: number; result: Buffer; end: number }> {
  for (let at = 0, end = 0; at < bytes.length; at = end) {
    end = at + 8 + bytes.readInt32LE(at + 4);
    yield { number: bytes.readInt32LE(at), result: bytes.subarray(at + 8, end), end };
  }
}

function int32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes.writeInt32LE(value);
  return bytes;
}
