/** `annals analytics import`: imports past hits from files and pipes. */
import { Argument, Option } from 'commander';
import { createUserAgentParser } from '../../../adapters/outbound/user-agent-parser.js';
import { type Chunk, createHitImporter, type HitImporter } from '../../../application/analytics/import-hits.js';
import { createBoundedParallel } from '../../../application/concurrency/index.js';
import { SOME_REJECTED } from '../command.js';
import { showProgress } from '../input/progress.js';
import { inputPaths, openSource, type Source, Unreadable } from '../input/source.js';
import { printError } from '../output.js';
import { chunksOf } from './chunks.js';
import { analyticsCommand } from './run.js';

const CONCURRENCY = 4;

interface Tally {
  accepted: number;
  /** Imported before. */
  known: number;
  rejected: number;
}

export const importHits = analyticsCommand(
  {
    description:
      'Imports hits, one JSON object per line, from files (also .gz) or from standard input (-, or no path in a pipe), ' +
      'in the format of the tracker with a timestamp (ISO 8601 or Unix time) and optionally userAgent, country, and ' +
      'address or visitor, which distinguish the visitors of a day and are not stored. The sites must exist; domains and ' +
      'ingest tokens are not checked. Rejected lines are reported by number. Importing again counts nothing twice: it ' +
      'continues an interrupted import, and adds the new lines of a file that has grown. Works with or without a ' +
      'running server.',
    examples: [
      ['analytics import hits.ndjson hits.1.ndjson.gz', 'files'],
      ['analytics import --source web-2 access.ndjson', 'a file that may start like another one'],
      ['analytics import -', 'from standard input'],
    ],
    arguments: [new Argument('[path...]', 'Files, or - for standard input')],
    options: [new Option('--source <name>', 'Distinguishes sources with equal first lines').default('', 'none')],
  },
  async ({ args, config: { values }, options }, { kernel, store, stop }) => {
    const paths = inputPaths(args);
    const importing = await createHitImporter({
      ...kernel,
      agents: createUserAgentParser(),
      store,
      retentionDays: values['analytics.retentionDays'],
      filterBots: values['analytics.filterBots'],
    });
    const tally: Tally = { accepted: 0, known: 0, rejected: 0 };
    let unreadable = 0;
    for (const path of paths) {
      if (stop.aborted) break;
      try {
        await importSource(importing, await openSource(path), { tally, name: String(options.source), stop });
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        unreadable++;
        printError(`${path} ${error.message}`);
      }
    }
    printError(summary(tally));
    return unreadable > 0 ? 1 : tally.rejected > 0 ? SOME_REJECTED : 0;
  },
);

interface Import {
  readonly tally: Tally;
  readonly name: string;
  readonly stop: AbortSignal;
}

async function importSource({ validate, importChunk }: HitImporter, source: Source, { tally, name, stop }: Import) {
  const progress = showProgress(source, tally, 'hits');
  const jobs = createBoundedParallel(CONCURRENCY);

  function reject(lines: string, reason: string, count = 1) {
    tally.rejected += count;
    progress.onRejected(`${source.name}:${lines}: ${reason}`);
  }

  async function store(chunk: Chunk) {
    const { stored, known, refused } = await importChunk(name, chunk);
    tally.accepted += stored;
    tally.known += known;
    if (refused > 0) reject(String(chunk.firstLine), refusal(refused), refused);
  }

  try {
    const onRejected = (line: number, reason: string) => reject(String(line), reason);
    for await (const chunk of chunksOf(source.chunks(stop), { judge: validate, onRejected, stop })) {
      await jobs.start(() => store(chunk));
      progress.update();
    }
    await jobs.finish();
  } finally {
    progress.end();
  }
}

const refusal = (lines: number) =>
  `a line like this was imported before, followed by other lines: ${lines === 1 ? 'it is' : `${lines} lines of its day from here are`} ` +
  'not imported; import the new lines separately, or pass another --source';

function summary({ accepted, known, rejected }: Tally): string {
  const parts = [`${accepted.toLocaleString('en')} ${accepted === 1 ? 'hit' : 'hits'} imported`];
  if (known > 0) parts.push(`${known.toLocaleString('en')} already imported`);
  if (rejected > 0) parts.push(`${rejected.toLocaleString('en')} lines rejected`);
  return parts.join(', ');
}
