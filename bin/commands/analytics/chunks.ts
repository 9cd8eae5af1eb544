/** Lines of hits, put together to what is stored at once: the same for the same lines, however they come. */
import { bodyValidator } from '../../../adapters/http/kernel/validate.js';
import type { Chunk } from '../../../application/analytics/importing.js';
import type { PastHit } from '../../../application/analytics/past.js';
import { pastHit, type WrittenPastHit } from '../../../domain/analytics/past-hit.js';
import { dayOf } from '../../../domain/analytics/traffic.js';
import { batchesOf } from '../input/lines.js';
import { instantOf } from '../instants.js';

/** Longer lines are none: as long as what one request may bring. */
const LINE_BYTES = 32 * 1024;
/** Of lines whose numbers begin alike: one that is mended later moves no other into another chunk. */
const WINDOW = 500;
/** An event is well below what a store takes at once. */
const CHUNK_BYTES = 256 * 1024;
const READ = { lineBytes: LINE_BYTES, batchLines: 1000, batchBytes: 1024 * 1024 };

export interface ChunkOptions {
  /** What is to be counted of a line, or why nothing is. */
  readonly judge: (written: WrittenPastHit, at: number) => PastHit | string;
  /** Told of lines that are not taken. */
  readonly rejected: (line: number, why: string) => void;
}

const validate = bodyValidator(pastHit, true);

export async function* chunksOf(
  source: AsyncIterable<Buffer>,
  { judge, rejected }: ChunkOptions,
): AsyncGenerator<Chunk> {
  let hits: PastHit[] = [];
  let [firstLine, bytes, key] = [0, 0, ''];
  for await (const lines of batchesOf(source, READ))
    for (const { number, bytes: line } of lines) {
      const hit = line ? hitOf(line.toString('utf8'), judge) : 'the line is too long';
      if (typeof hit === 'string') {
        rejected(number, hit);
        continue;
      }
      const size = line!.length;
      const of = `${Math.floor((number - 1) / WINDOW)} ${dayOf(hit.at)}`;
      if (hits.length > 0 && (of !== key || bytes + size > CHUNK_BYTES)) {
        yield { firstLine, hits };
        [hits, bytes] = [[], 0];
      }
      if (hits.length === 0) [firstLine, key] = [number, of];
      hits.push(hit);
      bytes += size;
    }
  if (hits.length > 0) yield { firstLine, hits };
}

function hitOf(line: string, judge: ChunkOptions['judge']): PastHit | string {
  let written: unknown;
  try {
    written = JSON.parse(line);
  } catch {
    return 'it is no JSON';
  }
  const wrong = validate(written);
  if (wrong) return wrong.field === '' ? 'it is no JSON object' : `${wrong.field}: ${wrong.message}`;
  const hit = written as WrittenPastHit;
  const at = instantOf(hit.timestamp);
  return at === undefined ? 'timestamp is no ISO 8601 and no Unix time' : judge(hit, at);
}
