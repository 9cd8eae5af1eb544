/** Takes in the lines of watched files, each once: how far a file was read is in the log with its records. */
import { BATCH_BYTES, type RecordText } from '../../../domain/logs/batch.js';
import { isRejection } from '../../../domain/shared/index.js';
import { sleep } from '../../concurrency/index.js';
import type { CommandContext, Logger } from '../../ports/index.js';
import { yieldOnly } from '../query/query-budget.js';
import type { Ingest } from './ingest-records.js';
import { readLines } from './parse-body.js';

export const WATCH_EVERY_MS = 500;
/** Since so long another process may have read on: the index is waited for before its offsets are believed. */
const MINE_MS = 5 * WATCH_EVERY_MS;
/** So many looks after a file was seen last, an hour's, it is not remembered any more. */
const REMEMBERED_LOOKS = 7200;

export interface OpenFile {
  readonly path: string;
  readonly id: string;
  readonly size: number;
}

export interface WatchPorts<File extends OpenFile> {
  readonly directories: readonly string[];
  /** Tells what it can't read now, and goes on. */
  readonly filesIn: (directory: string, unreadable: (path: string, error: unknown) => void) => AsyncIterable<File>;
  readonly nextPiece: (file: File, offset: number) => Promise<{ bytes: Buffer; end: number } | undefined>;
  readonly writerOf: (path: string) => string;
  readonly ingest: Pick<Ingest, 'take'>;
  /** How many bytes of a file are in the log, as the index knows it. */
  readonly offset: (id: string) => Promise<number | undefined>;
  /** Resolves when the index shows everything that is in the log now. */
  readonly caughtUp: (stop: AbortSignal) => Promise<void>;
  readonly context: (actor: string) => CommandContext;
  readonly logger: Logger;
}

/** Looks once at every file; to be called again and again by one process of a machine. */
export function createWatch<File extends OpenFile>(ports: WatchPorts<File>) {
  const { directories, filesIn, nextPiece, writerOf, ingest, offset, caughtUp, context, logger } = ports;
  let offsets = new Map<string, Followed>();
  let looks = 0;
  /** One of those may come back, and the index not know yet what was read of it. */
  let hasForgotten = false;
  let lookedAt = Number.NEGATIVE_INFINITY;
  /** What could not be read the last time. */
  let told: ReadonlySet<string> = new Set();

  async function follow(file: File, stop: AbortSignal) {
    const known = await knownOf(file.id, stop);
    if (stop.aborted) return;
    // Cut off and begun anew with the same first line.
    let at = known > file.size ? 0 : known;
    while (at < file.size && !stop.aborted) {
      const piece = await nextPiece(file, at);
      if (!piece) break;
      for await (const run of runsOf(piece.bytes, at, writerOf(file.path))) {
        if (run.rejected > 0) logger.warn({ path: file.path, ...run, records: undefined }, 'lines that are no records');
        if (!(await take(file, run, stop))) return;
        at = run.end;
        offsets.set(file.id, { at, seen: looks });
      }
      at = piece.end;
    }
    offsets.set(file.id, { at, seen: looks });
  }

  async function knownOf(id: string, stop: AbortSignal): Promise<number> {
    const followed = offsets.get(id);
    if (followed) return followed.at;
    if (hasForgotten) {
      await caughtUp(stop);
      hasForgotten = false;
    }
    return (await offset(id)) ?? 0;
  }

  /** Files that are gone: rotation makes and ends them for ever. */
  function forgetGone() {
    for (const [id, { seen }] of offsets)
      if (looks - seen > REMEMBERED_LOOKS) {
        offsets.delete(id);
        hasForgotten = true;
      }
  }

  /** False when it was stopped before. */
  async function take(file: File, { records, rejected, end }: Run, stop: AbortSignal): Promise<boolean> {
    const source = { id: file.id, offset: end };
    const given = { producerId: writerOf(file.path), records, rejected, source };
    while (records.length > 0) {
      if (stop.aborted) return false;
      const done = await ingest.take(given, context('logs.watch'));
      if (!isRejection(done)) break;
      await sleep(done.retryAfterMs ?? WATCH_EVERY_MS, stop);
    }
    return true;
  }

  return async (stop: AbortSignal): Promise<void> => {
    if (performance.now() - lookedAt > MINE_MS) {
      offsets = new Map();
      await caughtUp(stop);
    }
    looks++;
    let failed = false;
    const missing = new Set<string>();
    const tell = (path: string, err: unknown) => {
      missing.add(path);
      // Looked for again and again, but told once.
      if (!told.has(path)) logger.warn({ err, path }, 'what is to be watched can not be read');
    };
    for (const directory of directories) {
      try {
        for await (const file of filesIn(directory, tell)) await follow(file, stop);
      } catch (error) {
        failed = true;
        if (!stop.aborted) logger.warn({ err: error, directory }, 'watching is interrupted');
      }
    }
    for (const path of told) if (!missing.has(path)) logger.info({ path }, 'what is watched is there again');
    told = missing;
    if (looks % REMEMBERED_LOOKS === 0) forgetGone();
    // After a failure nobody knows what came through.
    lookedAt = failed ? Number.NEGATIVE_INFINITY : performance.now();
  };
}

/** How far a file was read, and at which look it was seen last. */
interface Followed {
  readonly at: number;
  readonly seen: number;
}

interface Run {
  readonly records: readonly RecordText[];
  readonly rejected: number;
  readonly end: number;
}

/** So many lines make one batch at most. */
const RUN_LINES = 5000;

const bytesOf = (records: readonly RecordText[]) => records.reduce((sum, { bytes }) => sum + bytes + 1, 0);

/** Lines in runs that fit one batch, which is in the log whole, with its offset, or not at all. */
async function* runsOf(bytes: Buffer, at: number, producerId: string): AsyncGenerator<Run> {
  let run = { records: [] as RecordText[], rejected: 0, end: at };
  let size = 0;
  for (let from = 0; from < bytes.length; ) {
    // A piece may be of nothing but lines that are no records, and each costs its reading.
    const turn = yieldOnly();
    if (turn) await turn;
    const end = bytes.indexOf(0x0a, from) + 1;
    const { records, rejected } = readLines(bytes.toString('utf8', from, end), producerId);
    const [first, next] = [run.records[0], records[0]];
    const isOther = first && next && first.audit !== next.audit;
    // As they are kept, records may be larger than their lines: the name of their producer is written into them.
    if (isOther || run.records.length === RUN_LINES || size + bytesOf(records) > BATCH_BYTES) {
      yield run;
      run = { records: [], rejected: 0, end: run.end };
      size = 0;
    }
    size += bytesOf(records);
    run.records.push(...records);
    run.rejected += rejected;
    from = end;
    run.end = at + end;
  }
  yield run;
}
