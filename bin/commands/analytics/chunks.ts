/** Lines of hits, put together to what is stored at once: of one site and day, the same for the same lines, however they come. */
import { createHash } from 'node:crypto';
import { bodyValidator } from '../../../adapters/http/server/validate.js';
import { sentenceAsSent } from '../../../adapters/http/server/validation-message.js';
import type { Chunk } from '../../../application/analytics/import-hits.js';
import type { PastHit } from '../../../application/analytics/store-imported-hits.js';
import { dayOf } from '../../../domain/analytics/hit-batch.js';
import { pastHit, type WrittenPastHit } from '../../../domain/analytics/imported-hit.js';
import { batchesOf } from '../input/lines.js';
import { parseTimestamp } from '../instants.js';

/** Longer lines are none: as long as what one request may bring. */
const LINE_BYTES = 32 * 1024;
/** An event is well below what a store takes at once. */
const CHUNK_BYTES = 256 * 1024;
const CHUNK_HITS = 1000;
/** Chunks end by what stands in them, as soon as they have so many: whoever leaves a line out moves the next ones no further. */
const LEAST_HITS = 32;
/** One hit of so many ends a chunk. */
const ENDS_ONE_OF = 256;
/** Of all chunks that have not ended: hits of many days, and in no order, fill this. */
const OPEN_BYTES = 16 * 1024 * 1024;
const READ = { lineBytes: LINE_BYTES, batchLines: 1000, batchBytes: 1024 * 1024 };

export interface ChunkOptions {
  /** What is to be counted of a line, or why nothing is. */
  readonly judge: (written: WrittenPastHit, at: number) => PastHit | string;
  /** Told of lines that are not taken. */
  readonly rejected: (line: number, why: string) => void;
  /** What was begun by then is left out. */
  readonly stop?: AbortSignal;
}

interface Open {
  readonly firstLine: number;
  readonly begins: string;
  readonly hits: PastHit[];
  bytes: number;
}

const validate = bodyValidator(pastHit, true);

export async function* chunksOf(
  source: AsyncIterable<Buffer>,
  { judge, rejected, stop }: ChunkOptions,
): AsyncGenerator<Chunk> {
  /** By site and day; what nothing came to for longest is first. */
  const open = new Map<string, Open>();
  const begun = new Map<string, number>();
  let openBytes = 0;

  function closed(key: string): Chunk {
    const { firstLine, begins, hits, bytes } = open.get(key)!;
    open.delete(key);
    openBytes -= bytes;
    const nth = begun.get(begins) ?? 0;
    begun.set(begins, nth + 1);
    return { firstLine, nth, hits };
  }

  for await (const lines of batchesOf(source, READ)) {
    if (stop?.aborted) return;
    for (const { number, bytes: line } of lines) {
      const hit = line ? hitOf(line.toString('utf8'), judge) : 'the line is too long';
      if (typeof hit === 'string') {
        rejected(number, hit);
        continue;
      }
      const size = line!.length;
      const key = `${hit.site.instance} ${dayOf(hit.at)}`;
      if ((open.get(key)?.bytes ?? 0) + size > CHUNK_BYTES) yield closed(key);
      const digest = digestOf(hit);
      const chunk = open.get(key) ?? {
        firstLine: number,
        begins: digest.toString('base64'),
        hits: [],
        bytes: 0,
      };
      chunk.hits.push(hit);
      chunk.bytes += size;
      openBytes += size;
      open.delete(key);
      open.set(key, chunk);
      const { length } = chunk.hits;
      const ends = length >= LEAST_HITS && digest.readUInt32BE() % ENDS_ONE_OF === 0;
      if (ends || length >= CHUNK_HITS) yield closed(key);
      while (openBytes > OPEN_BYTES) yield closed(open.keys().next().value!);
    }
  }
  if (!stop?.aborted) for (const key of [...open.keys()]) yield closed(key);
}

/** Of what it says, and not of who came: for as long as the command runs. */
const digestOf = ({ site, at, hit }: PastHit) =>
  createHash('sha256')
    .update(JSON.stringify([site.instance, at, hit]))
    .digest()
    .subarray(0, 16);

function hitOf(line: string, judge: ChunkOptions['judge']): PastHit | string {
  let written: unknown;
  try {
    written = JSON.parse(line);
  } catch {
    return 'it is no JSON';
  }
  const wrong = validate(written);
  if (wrong) return wrong.field === '' ? 'it is no JSON object' : sentenceAsSent(wrong);
  const hit = written as WrittenPastHit;
  const at = parseTimestamp(hit.timestamp);
  return at === undefined ? 'timestamp is no ISO 8601 and no Unix time' : judge(hit, at);
}
