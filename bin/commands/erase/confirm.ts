/** Asks the person at the terminal before anything is erased. */
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { Option } from 'commander';
import { ConfigError } from '../../../adapters/platform/config/config-error.js';
import type { Call } from '../command.js';
import { Failed } from '../failure.js';

const FLAG = '--yes';

export const yesOption = new Option(FLAG, 'Erase without asking: for scripts');

export interface Terminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable;
}

/**
 * Resolves once `question` is answered with yes, or at once with `--yes`. Throws for any other answer, and where there is
 * nobody to ask.
 */
export async function confirm(
  question: string,
  options: Call['options'],
  { input, output }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<void> {
  if (options.yes) return;
  if (!input.isTTY) throw new ConfigError(FLAG, 'must be given where no terminal is there to ask at');
  const answer = await answerTo(`${question} There is no way back. [y/N] `, { input, output });
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new Failed('nothing was erased');
}

/** One line; empty where the input ends before it, or is interrupted. */
async function answerTo(question: string, terminal: Terminal): Promise<string> {
  const asking = createInterface(terminal);
  asking.setPrompt(question);
  asking.prompt();
  for await (const line of asking) return line;
  return '';
}
