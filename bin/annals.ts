#!/usr/bin/env node
/** The program: its commands, and what becomes of their errors. */
import { Command, CommanderError } from 'commander';
import { ConfigError } from '../adapters/platform/config/config-error.js';
import { maskCredentials } from '../adapters/platform/config/mask.js';
import { commands } from './commands/all.js';
import { addCommands, checkCommandNames } from './commands/command.js';
import { outsideCause } from './commands/failure.js';
import { release } from './node/release.js';

/** The command line or the configuration is wrong; nothing was begun. 1 is for commands that failed. */
const USAGE = 2;

const program = new Command('annals')
  .description('Team chat, meetings, web analytics, log records and encrypted rooms on one event log.')
  .version(release, '-V, --version', 'Print the version')
  .helpOption('-h, --help', 'Show help for the program or a command')
  .addHelpText(
    'after',
    `
Every setting can be given as a flag, in the environment and in a configuration file, in this order of
precedence: --rooms-port 8004, ANNALS_ROOMS_PORT=8004, { rooms: { port: 8004 } }. "annals config" shows them all.

Exit codes: 0 done, 1 the command failed, ${USAGE} the command line or the configuration is wrong.`,
  )
  .configureOutput({ outputError: (text) => complain(oneLine(text)) })
  .exitOverride();

addCommands(program, commands, (code) => {
  process.exitCode = code;
});

/** So long what is under way has to end by itself after a failure. */
const ENDING_MS = 2000;

// Whoever reads our output may have read enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

try {
  const given = process.argv.slice(2);
  checkCommandNames(program, given);
  await program.parseAsync(given.length > 0 ? given : ['--help'], { from: 'user' });
} catch (error) {
  process.exitCode = failed(error);
  // What a driver still waits for, of a store that does not answer, would keep the process from ever ending.
  setTimeout(() => process.exit(), ENDING_MS).unref();
}

function complain(text: string) {
  process.stderr.write(`annals: ${maskCredentials(text)}\n`);
}

function failed(error: unknown): number {
  // Commander has said what there is to say, or has shown help or the version.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE;
  if (error instanceof ConfigError) {
    complain(error.message);
    return USAGE;
  }
  complain(outsideCause(error) ?? (error instanceof Error ? (error.stack ?? error.message) : 'failed'));
  return 1;
}

/** Commander puts its suggestion on a line of its own. */
function oneLine(text: string): string {
  return text
    .trim()
    .replace(/^error: /, '')
    .replaceAll(/\s*\n\s*/g, ' ');
}
