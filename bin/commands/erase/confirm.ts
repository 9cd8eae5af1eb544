/** Asks for confirmation on the terminal before anything is erased. */
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { Option } from 'commander';
import { ConfigError } from '../../../adapters/platform/config/config-error.js';
import type { Call } from '../command.js';
import { Failed } from '../failure.js';

const FLAG = '--yes';

export const yesOption = new Option(FLAG, 'Erase without confirmation, for scripts');

export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable;
}

/**
 * Resolves when the question is answered with yes, or immediately with `--yes`. Rejects for any other answer and without
 * a terminal.
 */
export async function confirm(
  question: string,
  options: Call['options'],
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<void> {
  if (options.yes) return;
  if (!input.isTTY) throw new ConfigError(FLAG, 'is required without a terminal to ask for confirmation');
  const answer = await ask(`${question} This can not be undone. [y/N] `, { input, output });
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new Failed('nothing was erased');
}

/** Reads one line; empty if the input ends or is interrupted before. */
async function ask(question: string, terminal: Terminal): Promise<string> {
  const readline = createInterface(terminal);
  readline.setPrompt(question);
  readline.prompt();
  for await (const line of readline) return line;
  return '';
}
