/** Groups lines of hits into chunks of one site and day, the same chunks for the same lines (content-defined chunking). */
import { createHash } from 'node:crypto';
import { bodyValidator, messageWithPath } from '../../../adapters/http/server/validate.js';
import type { Chunk } from '../../../application/analytics/import-hits.js';
import type { HistoricalHit } from '../../../application/analytics/store-imported-hits.js';
import { dayOf, type ImportedHit, importedHit } from '../../../domain/analytics/hit.js';
import { parseTimestamp } from '../argument-parsers.js';
import { batchesOf } from '../input/lines.js';

/** Longer lines are rejected: the limit of a request to the API. */
const LINE_BYTES = 32 * 1024;
/** Keeps an event well below the size limit of the event store. */
const CHUNK_BYTES = 256 * 1024;
const CHUNK_HITS = 1000;
/** Minimum hits of a chunk. Chunks end at content, so that an inserted or removed line changes few of them. */
const MIN_HITS = 32;
/** Average hits after which the digest of a hit ends a chunk. */
const BOUNDARY_EVERY = 256;
/** Limit of all open chunks; reached by unsorted hits of many days. */
const OPEN_BYTES = 16 * 1024 * 1024;
const READ = { lineBytes: LINE_BYTES, batchLines: 1000, batchBytes: 1024 * 1024 };

export interface ChunkOptions {
  /** Returns the hit to count, or the reason for rejecting it. */
  readonly judge: (written: ImportedHit, at: number) => HistoricalHit | string;
  /** Called for rejected lines. */
  readonly onRejected: (line: number, reason: string) => void;
  /** Discards open chunks on abort. */
  readonly stop?: AbortSignal;
}

interface OpenChunk {
  readonly firstLine: number;
  /** Digest of the first hit. */
  readonly firstDigest: string;
  readonly hits: HistoricalHit[];
  bytes: number;
}

const validate = bodyValidator(importedHit, true);

export async function* chunksOf(
  source: AsyncIterable<Buffer>,
  { judge, onRejected, stop }: ChunkOptions,
): AsyncGenerator<Chunk> {
  /** By site and day; least recently extended first. */
  const open = new Map<string, OpenChunk>();
  const chunksByDigest = new Map<string, number>();
  let openBytes = 0;

  function close(key: string): Chunk {
    const { firstLine, firstDigest, hits, bytes } = open.get(key)!;
    open.delete(key);
    openBytes -= bytes;
    const occurrence = chunksByDigest.get(firstDigest) ?? 0;
    chunksByDigest.set(firstDigest, occurrence + 1);
    return { firstLine, occurrence, hits };
  }

  for await (const lines of batchesOf(source, READ)) {
    if (stop?.aborted) return;
    for (const { number, bytes: line } of lines) {
      const hit = line ? parseHit(line.toString('utf8'), judge) : 'the line is too long';
      if (typeof hit === 'string') {
        onRejected(number, hit);
        continue;
      }
      const size = line!.length;
      const key = `${hit.site.instance} ${dayOf(hit.at)}`;
      if ((open.get(key)?.bytes ?? 0) + size > CHUNK_BYTES) yield close(key);
      const digest = digestOf(hit);
      const chunk = open.get(key) ?? {
        firstLine: number,
        firstDigest: digest.toString('base64'),
        hits: [],
        bytes: 0,
      };
      chunk.hits.push(hit);
      chunk.bytes += size;
      openBytes += size;
      open.delete(key);
      open.set(key, chunk);
      const { length } = chunk.hits;
      const isBoundary = length >= MIN_HITS && digest.readUInt32BE() % BOUNDARY_EVERY === 0;
      if (isBoundary || length >= CHUNK_HITS) yield close(key);
      while (openBytes > OPEN_BYTES) yield close(open.keys().next().value!);
    }
  }
  if (!stop?.aborted) for (const key of [...open.keys()]) yield close(key);
}

/** Digest of the content of a hit without its visitor. */
const digestOf = ({ site, at, hit }: HistoricalHit) =>
  createHash('sha256')
    .update(JSON.stringify([site.instance, at, hit]))
    .digest()
    .subarray(0, 16);

function parseHit(line: string, judge: ChunkOptions['judge']): HistoricalHit | string {
  let written: unknown;
  try {
    written = JSON.parse(line);
  } catch {
    return 'it is not valid JSON';
  }
  const error = validate(written);
  if (error) return error.field === '' ? 'it is not a JSON object' : messageWithPath(error);
  const hit = written as ImportedHit;
  const at = parseTimestamp(hit.timestamp);
  return at === undefined ? 'timestamp must be ISO 8601 or Unix time' : judge(hit, at);
}
