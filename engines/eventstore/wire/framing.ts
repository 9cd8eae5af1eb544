/** Messages and their length prefixes: how gRPC cuts a byte stream. */
import { GrpcError, Status } from './status.js';

const PREFIX = 5;

/** Messages with their length prefixes, as one buffer. */
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

/** Cuts a byte stream into messages of at most `maxMessage` bytes; collects chunks without copying a long message again and again. */
export function unframe(
  maxMessage: number,
  message: (bytes: Buffer) => void,
): { push(chunk: Buffer): void; finish(): void } {
  let chunks: Buffer[] = [];
  let held = 0;
  let needed = PREFIX;
  return {
    push(chunk) {
      chunks.push(chunk);
      held += chunk.length;
      if (held < needed) return;
      const bytes = chunks.length === 1 ? chunk : Buffer.concat(chunks, held);
      let at = 0;
      needed = PREFIX;
      while (bytes.length - at >= PREFIX) {
        if (bytes[at] !== 0) throw new GrpcError(Status.UNIMPLEMENTED, 'Compressed messages are not supported.');
        const length = bytes.readUInt32BE(at + 1);
        if (length > maxMessage) {
          throw new GrpcError(
            Status.RESOURCE_EXHAUSTED,
            'Received message exceeds the maximum configured message size.',
          );
        }
        needed = PREFIX + length;
        if (bytes.length - at < needed) break;
        message(bytes.subarray(at + PREFIX, at + needed));
        at += needed;
        needed = PREFIX;
      }
      chunks = at < bytes.length ? [bytes.subarray(at)] : [];
      held = bytes.length - at;
    },
    finish() {
      if (held > 0) throw new GrpcError(Status.INTERNAL, 'Incomplete message.');
    },
  };
}
