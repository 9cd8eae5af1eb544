#!/usr/bin/env node
/** Entry point of the program: runs commands and reports their errors. */
import { Command, CommanderError } from 'commander';
import { ConfigError } from '../adapters/platform/config/config-error.js';
import { maskCredentials } from '../adapters/platform/config/mask.js';
import { commands } from './commands/all.js';
import { addCommands, checkCommandNames } from './commands/command.js';
import { outsideCause } from './commands/failure.js';
import { release } from './node/release.js';

/** Exit code for a wrong command line or configuration, before anything was started. 1: the command failed. */
const USAGE = 2;

const program = new Command('annals')
  .description('Team chat, meetings, web analytics, log records and encrypted rooms on one event log.')
  .version(release, '-V, --version', 'Print the version')
  .helpOption('-h, --help', 'Show help for the program or a command')
  .addHelpText(
    'after',
    `
Every setting can be set by a flag, in the environment and in a configuration file, in this order of
precedence: --rooms-port 8004, ANNALS_ROOMS_PORT=8004, { rooms: { port: 8004 } }. "annals config" shows them all.

Exit codes: 0 success, 1 the command failed, ${USAGE} wrong command line or configuration.`,
  )
  .configureOutput({ outputError: (text) => printError(oneLine(text)) })
  .exitOverride();

let isOutputLost = false;

addCommands(program, commands, (code) => {
  process.exitCode = isOutputLost ? 1 : code;
});

/** How long pending work may delay the exit after a failure. */
const EXIT_DELAY_MS = 2000;

// The reader of a pipe may close it early, and a node outlives a full disk that its log is on.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || isOutputLost) return;
  isOutputLost = true;
  process.exitCode = 1;
  printError(`output is lost: ${error.message}`);
});
process.stderr.on('error', () => {});

try {
  const args = process.argv.slice(2);
  checkCommandNames(program, args);
  await program.parseAsync(args.length > 0 ? args : ['--help'], { from: 'user' });
} catch (error) {
  process.exitCode = reportFailure(error);
  // A driver waiting for a store that does not answer would keep the process alive.
  setTimeout(() => process.exit(), EXIT_DELAY_MS).unref();
}

function printError(text: string) {
  process.stderr.write(`annals: ${maskCredentials(text)}\n`);
}

function reportFailure(error: unknown): number {
  // Commander has already printed its error, the help or the version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
  if (error instanceof ConfigError) {
    printError(error.message);
    return USAGE;
  }
  printError(outsideCause(error) ?? (error instanceof Error ? (error.stack ?? error.message) : 'failed'));
  return 1;
}

/** Joins commander's message and its suggestion, which is on a separate line. */
function oneLine(text: string): string {
  return text
    .trim()
    .replace(/^error: /, '')
    .replaceAll(/\s*\n\s*/g, ' ');
}
