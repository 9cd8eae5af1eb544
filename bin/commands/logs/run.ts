/** Runs the commands of the log service: exit codes, interrupts and closed pipes. */
import { onEnd } from '../../../adapters/platform/process/shutdown.js';
import { type Call, type CommandSpec, INTERRUPTED, SOME_REJECTED } from '../command.js';
import { Failed } from '../failure.js';
import { printError } from '../output.js';
import { CONNECTION_SETTINGS, connectionOptions, Refused } from './connection.js';

export const FAILED = 1;
/** Invalid arguments, found by this program or by the service. */
const WRONG_USAGE = 2;

const EXIT_CODES =
  `\n\nExit codes: 0 success (also when the reader of a pipe closed it), ${FAILED} failed, ${WRONG_USAGE} wrong usage, ` +
  `${SOME_REJECTED} (import) some records were rejected, ${INTERRUPTED} interrupted.`;

/** `stop` is aborted by Ctrl-C and when the reader closes the pipe. */
export type Work = (call: Call, stop: AbortSignal) => Promise<number>;

/** Creates a command that prints one line instead of a stack when the service answers with an error or not at all. */
export function logsCommand(spec: Omit<CommandSpec, 'run'>, work: Work): CommandSpec {
  return {
    ...spec,
    description: spec.description + EXIT_CODES,
    options: [...(spec.options ?? []), ...connectionOptions],
    reads: () => CONNECTION_SETTINGS,
    run: (call) => runInterruptible((stop) => work(call, stop)),
  };
}

async function runInterruptible(work: (stop: AbortSignal) => Promise<number>): Promise<number> {
  const stop = new AbortController();
  let exitCode: number | undefined;
  const end = (code: number) => {
    exitCode = code;
    stop.abort();
  };
  const onPipeClosed = () => end(0);
  const unwatch = onEnd(
    () => end(INTERRUPTED),
    () => process.exit(INTERRUPTED),
  );
  process.stdout.once('error', onPipeClosed);
  try {
    const code = await work(stop.signal);
    return exitCode ?? code;
  } catch (error) {
    if (exitCode !== undefined) return exitCode;
    if (!(error instanceof Failed)) throw error;
    printError(error.message);
    return error instanceof Refused && error.status === 400 ? WRONG_USAGE : FAILED;
  } finally {
    unwatch();
    process.stdout.off('error', onPipeClosed);
  }
}
