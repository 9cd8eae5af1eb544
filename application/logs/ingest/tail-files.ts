/** Ingests the lines of watched files exactly once: the offset of a file is stored with its records. */
import { BATCH_BYTES, type RecordText } from '../../../domain/logs/batch.js';
import { isRejection } from '../../../domain/shared/index.js';
import { sleep } from '../../concurrency/index.js';
import type { CommandContext, Logger } from '../../ports/index.js';
import { yieldOnly } from '../query/query-budget.js';
import type { Ingest } from './ingest-records.js';
import { parseLines } from './parse-body.js';

export const SCAN_INTERVAL_MS = 500;
/** Milliseconds cached offsets are trusted; later, another process may have continued reading. */
const OFFSET_TRUST_MS = 5 * SCAN_INTERVAL_MS;
/** Scans after which an unseen file is forgotten (one hour). */
const MAX_UNSEEN_SCANS = 7200;

export interface OpenFile {
  readonly path: string;
  readonly id: string;
  readonly size: number;
}

export interface WatchPorts<File extends OpenFile> {
  readonly directories: readonly string[];
  /** Lists files; reports unreadable paths and continues. */
  readonly filesIn: (directory: string, unreadable: (path: string, error: unknown) => void) => AsyncIterable<File>;
  readonly nextPiece: (file: File, offset: number) => Promise<{ bytes: Buffer; end: number } | undefined>;
  readonly producerOf: (path: string) => string;
  readonly ingest: Pick<Ingest, 'take'>;
  /** Bytes of a file that are ingested, according to the index. */
  readonly offset: (id: string) => Promise<number | undefined>;
  readonly caughtUp: (stop: AbortSignal) => Promise<void>;
  readonly context: (actor: string) => CommandContext;
  readonly logger: Logger;
}

/** Returns a function that scans all files once; to be called periodically by one process per machine. */
export function createFileTailer<File extends OpenFile>(ports: WatchPorts<File>) {
  const { directories, filesIn, nextPiece, producerOf, ingest, offset, caughtUp, context, logger } = ports;
  let offsets = new Map<string, FileState>();
  let scans = 0;
  /** A forgotten file may reappear before the index has its last offset. */
  let hasEvicted = false;
  let scannedAt = Number.NEGATIVE_INFINITY;
  let unreadable: ReadonlySet<string> = new Set();

  async function ingestFile(file: File, stop: AbortSignal) {
    const offsetInLog = await offsetOf(file.id, stop);
    if (stop.aborted) return;
    // A file smaller than its offset was truncated and started anew with the same first line.
    let at = offsetInLog > file.size ? 0 : offsetInLog;
    while (at < file.size && !stop.aborted) {
      const piece = await nextPiece(file, at);
      if (!piece) break;
      for await (const run of runsOf(piece.bytes, at, producerOf(file.path))) {
        if (run.rejected > 0)
          logger.warn(
            { path: file.path, ...run, records: undefined },
            'lines that are not valid log records were skipped',
          );
        if (!(await take(file, run, stop))) return;
        at = run.end;
        offsets.set(file.id, { at, seen: scans });
      }
      at = piece.end;
    }
    offsets.set(file.id, { at, seen: scans });
  }

  async function offsetOf(id: string, stop: AbortSignal): Promise<number> {
    const state = offsets.get(id);
    if (state) return state.at;
    if (hasEvicted) {
      await caughtUp(stop);
      hasEvicted = false;
    }
    return (await offset(id)) ?? 0;
  }

  /** Drops files not seen for an hour: log rotation creates and deletes files for ever. */
  function forgetOldFiles() {
    for (const [id, { seen }] of offsets)
      if (scans - seen > MAX_UNSEEN_SCANS) {
        offsets.delete(id);
        hasEvicted = true;
      }
  }

  async function take(file: File, { records, rejected, end }: Run, stop: AbortSignal): Promise<boolean> {
    const source = { id: file.id, offset: end };
    const batch = { producerId: producerOf(file.path), records, rejected, source };
    while (records.length > 0) {
      if (stop.aborted) return false;
      const outcome = await ingest.take(batch, context('logs.watch'));
      if (!isRejection(outcome)) break;
      await sleep(outcome.retryAfterMs ?? SCAN_INTERVAL_MS, stop);
    }
    return true;
  }

  return async (stop: AbortSignal): Promise<void> => {
    if (performance.now() - scannedAt > OFFSET_TRUST_MS) {
      offsets = new Map();
      await caughtUp(stop);
    }
    scans++;
    let failed = false;
    const missing = new Set<string>();
    const reportUnreadable = (path: string, err: unknown) => {
      missing.add(path);
      if (!unreadable.has(path)) logger.warn({ err, path }, 'watched path cannot be read; retrying');
    };
    for (const directory of directories) {
      try {
        for await (const file of filesIn(directory, reportUnreadable)) await ingestFile(file, stop);
      } catch (error) {
        failed = true;
        if (!stop.aborted) logger.warn({ err: error, directory }, 'log files could not be ingested; retrying');
      }
    }
    for (const path of unreadable) if (!missing.has(path)) logger.info({ path }, 'watched path is readable again');
    unreadable = missing;
    if (scans % MAX_UNSEEN_SCANS === 0) forgetOldFiles();
    // After a failure the stored offset is unknown.
    scannedAt = failed ? Number.NEGATIVE_INFINITY : performance.now();
  };
}

interface FileState {
  readonly at: number;
  readonly seen: number;
}

interface Run {
  readonly records: readonly RecordText[];
  readonly rejected: number;
  readonly end: number;
}

const RUN_LINES = 5000;

const bytesOf = (records: readonly RecordText[]) => records.reduce((sum, { bytes }) => sum + bytes + 1, 0);

/** Splits lines into runs of one batch each, which is stored atomically with its offset. */
async function* runsOf(bytes: Buffer, at: number, producerId: string): AsyncGenerator<Run> {
  let run = { records: [] as RecordText[], rejected: 0, end: at };
  let size = 0;
  for (let from = 0; from < bytes.length; ) {
    // A piece may consist of invalid lines only, and parsing each takes time.
    const pause = yieldOnly();
    if (pause) await pause;
    const end = bytes.indexOf(0x0a, from) + 1;
    const { records, rejected } = parseLines(bytes.toString('utf8', from, end), producerId);
    const [first, next] = [run.records[0], records[0]];
    const isOther = first && next && first.audit !== next.audit;
    // Stored records may be larger than their lines, because the producer's name is added.
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
