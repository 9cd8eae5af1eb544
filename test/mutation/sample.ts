/**
 * Leaves all but a random sample of the mutants out, as Stryker's "checker": what it fails counts neither for nor
 * against the tests. A smaller sample is part of every larger one, and the same seed draws the same mutants.
 */
import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { type Checker, type CheckResult, CheckStatus } from '@stryker-mutator/api/check';
import type { Mutant, StrykerOptions } from '@stryker-mutator/api/core';
import { commonTokens, declareClassPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';

/** The member `mutantSample` of Stryker's options: the part to keep, over 0 and at most 1, and which one. */
interface Options extends StrykerOptions {
  readonly mutantSample?: { readonly part: number; readonly seed: string };
}

const LEFT_OUT: CheckResult = { status: CheckStatus.CompileError, reason: 'It is not in the sample.' };

class Sample implements Checker {
  static readonly inject = tokens(commonTokens.options);
  readonly #part: number;
  readonly #seed: string;

  constructor({ mutantSample: { part, seed } = { part: 1, seed: '' } }: Options) {
    if (!(part > 0 && part <= 1)) throw new RangeError(`A sample is a part over 0 and at most 1, not ${part}.`);
    this.#part = part;
    this.#seed = seed;
  }

  async init() {}

  async check(mutants: Mutant[]): Promise<Record<string, CheckResult>> {
    const passed: CheckResult = { status: CheckStatus.Passed };
    return Object.fromEntries(mutants.map((each) => [each.id, this.#holds(each) ? passed : LEFT_OUT]));
  }

  /** All at once: none of them needs the others. */
  async group(mutants: Mutant[]): Promise<string[][]> {
    return [mutants.map(({ id }) => id)];
  }

  #holds({ fileName, location, mutatorName, replacement }: Mutant): boolean {
    const mutant = [this.#seed, relative('', fileName), location, mutatorName, replacement];
    const drawn = createHash('sha256').update(JSON.stringify(mutant)).digest().readUInt32BE();
    return drawn < this.#part * 2 ** 32;
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.Checker, 'sample', Sample)];
