/** `annals analytics import`: hits from files and pipes, at the times that they tell. */
import { Argument, Option } from 'commander';
import { createAgents } from '../../../adapters/outbound/user-agent-parser.js';
import { safe } from '../../../adapters/platform/observability/safe-text.js';
import { type Chunk, createImporting, type Importing } from '../../../application/analytics/import-hits.js';
import { Failed } from '../failure.js';
import { createOverlapping } from '../input/bounded-parallel.js';
import { showProgress } from '../input/progress.js';
import { openSource, type Source, Unreadable } from '../input/source.js';
import { chunksOf } from './chunks.js';
import { analyticsCommand, SOME_REJECTED } from './run.js';

const AT_ONCE = 4;
const COMPLAINTS = 20;

interface Tally {
  /** Stored now. */
  accepted: number;
  known: number;
  rejected: number;
  complaints: number;
}

export const importHits = analyticsCommand(
  {
    description:
      'Counts hits, one JSON object a line, from files (also .gz) or from standard input (-, or no path in a pipe): what ' +
      'the tracker sends, with a timestamp (ISO 8601 or Unix time) and, where they are known, userAgent, country, and ' +
      'address or visitor, by which visitors of a day are told apart and which are not kept. The sites must be there; ' +
      'domains and ingest tokens are not asked for. Lines that are not taken are told with their numbers. Doing it again ' +
      'counts nothing twice: an import that was interrupted goes on, and of a file that has grown the new lines are taken. ' +
      'Works beside a running server, and without one.',
    examples: [
      ['analytics import hits.ndjson hits.1.ndjson.gz', 'files'],
      ['analytics import --source web-2 access.ndjson', 'a file that may begin like another one'],
      ['analytics import -', 'what comes on standard input'],
    ],
    arguments: [new Argument('[path...]', 'Files, or - for standard input')],
    options: [new Option('--source <name>', 'Tells apart what begins alike and is not the same').default('', 'none')],
  },
  async ({ args, config: { values }, options }, { kernel, store, stop }) => {
    const paths = args.length > 0 ? args : process.stdin.isTTY ? [] : ['-'];
    if (paths.length === 0) throw new Failed('say what to import: files, or - for standard input');
    const importing = await createImporting({
      ...kernel,
      agents: createAgents(),
      store,
      retentionDays: values['analytics.retentionDays'],
      filterBots: values['analytics.filterBots'],
    });
    const tally: Tally = { accepted: 0, known: 0, rejected: 0, complaints: 0 };
    let unread = 0;
    for (const path of paths) {
      if (stop.aborted) break;
      try {
        await importSource(importing, await openSource(path), { tally, name: String(options.source), stop });
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        unread++;
        complain(`${path} ${error.message}`);
      }
    }
    complain(summary(tally));
    return unread > 0 ? 1 : tally.rejected > 0 ? SOME_REJECTED : 0;
  },
);

interface Import {
  readonly tally: Tally;
  readonly name: string;
  readonly stop: AbortSignal;
}

async function importSource({ judge, take }: Importing, source: Source, { tally, name, stop }: Import) {
  const progress = showProgress(source, tally, 'hits');
  const storing = createOverlapping(AT_ONCE);

  function reject(lines: string, why: string, count = 1) {
    tally.rejected += count;
    if (++tally.complaints <= COMPLAINTS) progress.say(`${source.name}:${lines}: ${why}`);
    else if (tally.complaints === COMPLAINTS + 1) progress.say('further lines are only counted');
  }

  async function store(chunk: Chunk) {
    const { stored, known, refused } = await take(name, chunk);
    tally.accepted += stored;
    tally.known += known;
    if (refused > 0) reject(String(chunk.firstLine), refusal(refused), refused);
  }

  try {
    const rejected = (line: number, why: string) => reject(String(line), why);
    for await (const chunk of chunksOf(source.chunks(stop), { judge, rejected, stop })) {
      await storing.begin(() => store(chunk));
      progress.update();
    }
    await storing.end();
  } finally {
    progress.end();
  }
}

const refusal = (lines: number) =>
  `a line like this was imported before with other lines after it: ${lines === 1 ? 'it is' : `${lines} lines of its day from here are`} ` +
  'not taken; import what is new by itself, or name another --source';

const complain = (text: string) => void process.stderr.write(`annals: ${safe(text)}\n`);

function summary({ accepted, known, rejected }: Tally): string {
  const parts = [`${accepted.toLocaleString('en')} ${accepted === 1 ? 'hit' : 'hits'} imported`];
  if (known > 0) parts.push(`${known.toLocaleString('en')} were there already`);
  if (rejected > 0) parts.push(`${rejected.toLocaleString('en')} lines not taken`);
  return parts.join(', ');
}
