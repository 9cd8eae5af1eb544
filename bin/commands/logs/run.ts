/** What all commands of the log service share: how they end when they fail, are interrupted, or lose their reader. */
import { onEnd } from '../../../adapters/platform/process/signals.js';
import type { Call, CommandSpec } from '../command.js';
import { Failed } from '../failure.js';
import { CONNECTION_SETTINGS, connectionOptions, Refused } from './connection.js';

/** The command failed; it has said why. */
export const FAILED = 1;
/** What was asked for makes no sense, whether this program has found that out or the service. */
const WRONG_USAGE = 2;
/** All was sent, but the service did not take every record. */
export const SOME_REJECTED = 3;
/** Ended by Ctrl-C, as shells count it. */
export const INTERRUPTED = 130;

const EXIT_CODES =
  `\n\nExit codes: 0 done (also when the reader of a pipe has read enough), ${FAILED} failed, ${WRONG_USAGE} wrong usage, ` +
  `${SOME_REJECTED} (import) some records were rejected, ${INTERRUPTED} interrupted.`;

/** `stop` is aborted by Ctrl-C and by a reader that has gone. */
export type Work = (call: Call, stop: AbortSignal) => Promise<number>;

/** A command that ends with one line instead of a stack when the service can't be reached or refuses. */
export function logsCommand(spec: Omit<CommandSpec, 'run'>, work: Work): CommandSpec {
  return {
    ...spec,
    description: spec.description + EXIT_CODES,
    options: [...(spec.options ?? []), ...connectionOptions],
    reads: () => CONNECTION_SETTINGS,
    run: (call) => runStoppably((stop) => work(call, stop)),
  };
}

async function runStoppably(work: (stop: AbortSignal) => Promise<number>): Promise<number> {
  const stop = new AbortController();
  let ended: number | undefined;
  const end = (code: number) => {
    ended = code;
    stop.abort();
  };
  const readerGone = () => end(0);
  const unwatch = onEnd(
    () => end(INTERRUPTED),
    () => process.exit(INTERRUPTED),
  );
  process.stdout.once('error', readerGone);
  try {
    const code = await work(stop.signal);
    return ended ?? code;
  } catch (error) {
    if (ended !== undefined) return ended;
    if (!(error instanceof Failed)) throw error;
    process.stderr.write(`annals: ${error.message}\n`);
    return error instanceof Refused && error.status === 400 ? WRONG_USAGE : FAILED;
  } finally {
    unwatch();
    process.stdout.off('error', readerGone);
  }
}
