/** `annals logs import`: records from files and pipes, sent in batches until the service has them. */
import { createHash, randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { Argument, Option } from 'commander';
import { safe } from '../../../adapters/platform/observability/safe-text.js';
import { Failed } from '../failure.js';
import { batchesOf, type Line } from '../input/lines.js';
import { showProgress } from '../input/progress.js';
import { openSource, type Source, Unreadable } from '../input/source.js';
import { type Connection, connectionOf, Refused } from './connection.js';
import { wholeNumber } from './filters.js';
import { FAILED, logsCommand, SOME_REJECTED } from './run.js';
import { send } from './send.js';

const BATCH = { lineBytes: 1024 * 1024, batchLines: 1000, batchBytes: 1024 * 1024 };
const LINGER_MS = 250;
/** Files in any order; what is live stays in the order in which it came. */
const AT_ONCE = { files: 4, live: 1 };
const COMPLAINTS = 20;

interface Tally {
  accepted: number;
  rejected: number;
  /** Lines of batches that were given up. */
  lost: number;
  complaints: number;
}

export const importLogs = logsCommand(
  {
    description:
      'Sends records, one JSON object a line, from files (also .gz) or from standard input (-, or no path in a ' +
      'pipe). A batch that may or may not have arrived is sent again under the same key, which the service ' +
      'recognises. Lines that the service rejects, and batches that it does not take in time, are told and passed ' +
      'over.',
    examples: [
      ['logs import app.ndjson app.1.ndjson.gz', 'files'],
      ['logs import --token producer-token -', 'what comes on standard input'],
    ],
    arguments: [new Argument('[path...]', 'Files, or - for standard input')],
    options: [
      new Option('--patience <seconds>', 'Try to send a batch for so long').argParser(wholeNumber).default(300),
    ],
  },
  async (call, stop) => {
    const connection = connectionOf(call);
    const patienceMs = Number(call.options.patience) * 1000;
    const paths = call.args.length > 0 ? call.args : process.stdin.isTTY ? [] : ['-'];
    if (paths.length === 0) throw new Failed('say what to import: files, or - for standard input');
    const tally: Tally = { accepted: 0, rejected: 0, lost: 0, complaints: 0 };
    let unread = 0;
    for (const path of paths) {
      if (stop.aborted) break;
      try {
        await importSource(connection, await openSource(path), { tally, patienceMs, stop });
      } catch (error) {
        if (isHopeless(error)) throw error;
        unread++;
        complain(`${path} ${error instanceof Unreadable ? error.message : `is not taken: ${messageOf(error)}`}`);
      }
    }
    complain(summary(tally));
    return tally.lost > 0 || unread > 0 ? FAILED : tally.rejected > 0 ? SOME_REJECTED : 0;
  },
);

interface Import {
  readonly tally: Tally;
  readonly patienceMs: number;
  readonly stop: AbortSignal;
}

async function importSource(connection: Connection, source: Source, { tally, patienceMs, stop }: Import) {
  const { live, name } = source;
  const progress = showProgress(source, tally, 'records');
  const underWay = new Set<Promise<void>>();
  let hopeless: unknown;

  async function deliver(lines: readonly Line[]) {
    const sendable = lines.filter((line) => line.bytes !== undefined);
    for (const { number, bytes } of lines) if (!bytes) reject(number, 'the line is too long');
    if (sendable.length === 0) return;
    const body = Buffer.concat(sendable.map(({ bytes }) => withEnd(bytes!)));
    try {
      const key = live ? randomUUID() : keyOf(name, lines[0]!.number, body);
      const taken = await send(connection, body, { key, patienceMs, stop, retrying: progress.retrying });
      tally.accepted += taken.accepted;
      tally.rejected += taken.rejected - taken.errors.length;
      for (const { line, error } of taken.errors) reject(sendable[line - 1]?.number, error);
    } catch (error) {
      tally.lost += sendable.length;
      if (isHopeless(error)) hopeless ??= error;
      else progress.say(`${sendable.length} lines of ${name} were not sent: ${messageOf(error)}`);
    }
  }

  function reject(line: number | undefined, error: string) {
    tally.rejected++;
    if (++tally.complaints <= COMPLAINTS) progress.say(`${name}:${line ?? '?'}: ${error}`);
    else if (tally.complaints === COMPLAINTS + 1) progress.say('further rejections are only counted');
  }

  try {
    const options = live ? { ...BATCH, lingerMs: LINGER_MS } : BATCH;
    for await (const lines of batchesOf(source.chunks(stop), options)) {
      while (underWay.size >= (live ? AT_ONCE.live : AT_ONCE.files)) await Promise.race(underWay);
      if (hopeless) break;
      const sending = deliver(lines).finally(() => underWay.delete(sending));
      underWay.add(sending);
      progress.update();
    }
  } finally {
    await Promise.all(underWay);
    progress.end();
  }
  if (hopeless) throw hopeless;
}

/** Refused for what we are, not for what we sent: every other batch would be, too. */
const isHopeless = (error: unknown) => error instanceof Refused && [401, 403, 404, 405].includes(error.status);

/** The same for the same place of the same file, so that an import that is begun anew repeats nothing. */
const keyOf = (path: string, line: number, body: Buffer) =>
  createHash('sha256')
    .update(`${resolve(path)}\n${line}\n`)
    .update(body)
    .digest('base64url');

const withEnd = (line: Buffer) => (line.at(-1) === 0x0a ? line : Buffer.concat([line, Buffer.from('\n')]));

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

const complain = (text: string) => void process.stderr.write(`annals: ${safe(text)}\n`);

function summary({ accepted, rejected, lost }: Tally): string {
  const parts = [`${accepted.toLocaleString('en')} ${accepted === 1 ? 'record' : 'records'} imported`];
  if (rejected > 0) parts.push(`${rejected.toLocaleString('en')} rejected`);
  if (lost > 0) parts.push(`${lost.toLocaleString('en')} not sent`);
  return parts.join(', ');
}
