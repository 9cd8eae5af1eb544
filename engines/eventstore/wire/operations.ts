/** Decodes and encodes the messages of `StartScavenge`. */
import { field, message, numberField, Reader } from './protobuf.js';

/** Decodes the thread count and first chunk of a scavenge. */
export function decodeStartScavenge(bytes: Buffer): { threads: number; startFromChunk: number } {
  let threads = 0;
  let startFromChunk = 0;
  const reader = new Reader(bytes);
  while (reader.next()) {
    if (reader.field !== 1) reader.refuse('StartScavengeReq');
    const options = reader.message();
    while (options.next()) {
      if (options.field === 1) threads = options.number();
      else if (options.field === 2) startFromChunk = options.number();
      else options.refuse('StartScavengeReq.Options');
    }
  }
  return { threads, startFromChunk };
}

const RESULTS = { started: 0, inProgress: 1 };

export const scavengeResp = (id: string, result: keyof typeof RESULTS): Buffer =>
  message(field(1, id), numberField(2, RESULTS[result]));
