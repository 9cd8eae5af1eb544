/** Serves `Operations/StartScavenge`, runs the daily scavenge, and records both in `$scavenges`. */
import { randomUUID } from 'node:crypto';
import { append, type RecentIds, systemEvent, writeMetadata } from '../log/append.js';
import type { EventLog } from '../log/event-log.js';
import { ANY } from '../log/expected.js';
import { metastreamOf } from '../log/metadata.js';
import { createdOf, dataOf } from '../log/record.js';
import { scavenge } from '../log/scavenge.js';
import { unary } from '../wire/grpc.js';
import { decodeStartScavenge, scavengeResp } from '../wire/operations.js';
import { GrpcError, Status } from '../wire/status.js';

/** Seconds the scavenge history is kept. */
export const HISTORY_AGE = 30 * 24 * 60 * 60;
const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;
const HISTORY = '$scavenges';
const SETTINGS = { alwaysKeepScavenged: false, mergeChunks: false, startFromChunk: 0, threads: 1 };
const INTERRUPTED = {
  result: 'Interrupted',
  error: 'The node was restarted.',
  timeTaken: '00:00:00',
  spaceSaved: 0,
};

interface Running {
  readonly id: string;
  readonly abort: AbortController;
  readonly done: Promise<void>;
}

/** Creates the scavenger. Records a scavenge that the last run of the engine left unfinished as interrupted. */
export async function openScavenger(log: EventLog, recent: RecentIds) {
  let running: Running | undefined;
  let closed = false;
  const daily = setInterval(() => {
    // A last run in the future comes from a wrong clock and must not delay the next one.
    if (!running && Math.abs(Date.now() - lastRun(log)) >= DAY) begin().catch(() => {});
  }, HOUR);

  /** Resolves to the id once the start is recorded; rejects if it cannot be. */
  async function begin(): Promise<string> {
    const id = randomUUID();
    const abort = new AbortController();
    const startRecord = record(id, '$scavengeStarted', SETTINGS);
    const done = startRecord
      .then(() => run(id, abort.signal))
      // The error is in the history, unless the history cannot be written.
      .catch(() => {})
      .finally(() => {
        running = undefined;
      });
    running = { id, abort, done };
    await startRecord;
    return id;
  }

  async function run(id: string, signal: AbortSignal): Promise<void> {
    const begun = performance.now();
    let outcome = { events: 0, bytes: 0 };
    let error: string | null = null;
    try {
      outcome = await scavenge(log, signal);
    } catch (thrown) {
      error = String(thrown);
    }
    const result = error !== null ? 'Errored' : signal.aborted ? 'Stopped' : 'Success';
    const timeTaken = formatDuration(performance.now() - begun);
    await record(id, '$scavengeCompleted', { result, error, timeTaken, spaceSaved: outcome.bytes });
  }

  /** Writes an event to the history of one scavenge and a link to it into `$scavenges`. */
  function record(id: string, type: string, data: object): Promise<unknown> {
    const stream = `$scavenges-${id}`;
    return log.submit((now) => {
      // The link is written first: if it is refused, nothing has been written.
      const revision = (log.streams.written(stream)?.lastRevision ?? -1) + 1;
      const link = { ...systemEvent('$>'), data: Buffer.from(`${revision}@${stream}`) };
      append(log, recent, { stream: HISTORY, expected: ANY, events: [link], size: 0 }, now);
      if (revision === 0) {
        writeMetadata(log, stream, Buffer.from(JSON.stringify({ $maxAge: HISTORY_AGE })), now);
      }
      const facts = { scavengeId: id, nodeEndpoint: '127.0.0.1', ...data };
      const event = systemEvent(type, Buffer.from(JSON.stringify(facts)));
      append(log, recent, { stream, expected: ANY, events: [event], size: 0 }, now);
    });
  }

  const interrupted = findUnfinished(log);
  if (interrupted !== undefined) {
    // A deleted history is not continued.
    await record(interrupted, '$scavengeCompleted', INTERRUPTED).catch(() => {});
  }

  return {
    start: unary(async (bytes) => {
      const { threads, startFromChunk } = decodeStartScavenge(bytes);
      if (threads !== 1 || startFromChunk !== 0) {
        throw new GrpcError(Status.INVALID_ARGUMENT, 'A scavenge here has one thread and starts from chunk 0.');
      }
      if (closed) throw new GrpcError(Status.UNAVAILABLE, 'The engine is stopping.');
      if (running) return scavengeResp(running.id, 'inProgress');
      return scavengeResp(await begin(), 'started');
    }),
    /** Stops a running scavenge, waits for its end and prevents further ones. */
    async close() {
      closed = true;
      clearInterval(daily);
      running?.abort.abort();
      await running?.done;
    },
  };
}

function lastEvent(log: EventLog, name: string): Buffer | undefined {
  const stream = log.streams.flushed(name);
  return stream && log.find(stream, stream.lastRevision)?.record;
}

/** Unix ms of the last scavenge's end, or of the log's creation. */
function lastRun(log: EventLog): number {
  const last = lastEvent(log, HISTORY) ?? lastEvent(log, metastreamOf(HISTORY));
  return last ? createdOf(last) : 0;
}

/** Id of a scavenge that started but did not end: the last link points to the first event of its history. */
function findUnfinished(log: EventLog): string | undefined {
  const last = lastEvent(log, HISTORY);
  const link = last && dataOf(last).toString();
  return link?.startsWith(`0@${HISTORY}-`) ? link.slice(`0@${HISTORY}-`.length) : undefined;
}

/** Formats milliseconds as the server does: hh:mm:ss.fffffff */
function formatDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const parts = [seconds / 3600, (seconds / 60) % 60, seconds % 60];
  const clock = parts.map((part) => String(Math.floor(part)).padStart(2, '0')).join(':');
  return `${clock}.${String(Math.floor((milliseconds % 1000) * 1e4)).padStart(7, '0')}`;
}
