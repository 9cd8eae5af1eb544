/** Encodes and decodes gRPC's length-prefixed messages. */
import { GrpcError, Status } from './status.js';

const PREFIX = 5;

/** Returns messages with their length prefixes as one buffer. */
export function frame(messages: readonly Buffer[]): Buffer {
  let size = 0;
  for (const message of messages) size += PREFIX + message.length;
  const out = Buffer.allocUnsafe(size);
  let at = 0;
  for (const message of messages) {
    out[at] = 0;
    out.writeUInt32BE(message.length, at + 1);
    out.set(message, at + PREFIX);
    at += PREFIX + message.length;
  }
  return out;
}

/**
 * Splits a byte stream into messages of at most `maxMessage` bytes. Collects chunks, so that a long message is copied
 * only once.
 */
export function unframe(
  maxMessage: number,
  message: (bytes: Buffer) => void,
): { push(chunk: Buffer): void; finish(): void } {
  let chunks: Buffer[] = [];
  let pendingBytes = 0;
  let neededBytes = PREFIX;
  return {
    push(chunk) {
      chunks.push(chunk);
      pendingBytes += chunk.length;
      if (pendingBytes < neededBytes) return;
      const bytes = chunks.length === 1 ? chunk : Buffer.concat(chunks, pendingBytes);
      let at = 0;
      neededBytes = PREFIX;
      while (bytes.length - at >= PREFIX) {
        if (bytes[at] !== 0) throw new GrpcError(Status.UNIMPLEMENTED, 'Compressed messages are not supported.');
        const length = bytes.readUInt32BE(at + 1);
        if (length > maxMessage) {
          throw new GrpcError(
            Status.RESOURCE_EXHAUSTED,
            'Received message exceeds the maximum configured message size.',
          );
        }
        neededBytes = PREFIX + length;
        if (bytes.length - at < neededBytes) break;
        message(bytes.subarray(at + PREFIX, at + neededBytes));
        at += neededBytes;
        neededBytes = PREFIX;
      }
      chunks = at < bytes.length ? [bytes.subarray(at)] : [];
      pendingBytes = bytes.length - at;
    },
    finish() {
      if (pendingBytes > 0) throw new GrpcError(Status.INTERNAL, 'Incomplete message.');
    },
  };
}
