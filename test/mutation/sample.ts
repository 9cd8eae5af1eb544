/** Stryker "checker" that skips all but a random sample of mutants. A smaller sample is part of every larger one, and the same seed selects the same mutants. */
import { createHash } from 'node:crypto';
import { relative } from 'node:path';
import { type Checker, type CheckResult, CheckStatus } from '@stryker-mutator/api/check';
import type { Mutant, StrykerOptions } from '@stryker-mutator/api/core';
import { commonTokens, declareClassPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';

/** Stryker option `mutantSample`: the fraction to keep, over 0 and at most 1, and the seed. */
interface Options extends StrykerOptions {
  readonly mutantSample?: { readonly part: number; readonly seed: string };
}

const SKIPPED: CheckResult = { status: CheckStatus.CompileError, reason: 'not in the sample' };

class Sample implements Checker {
  static readonly inject = tokens(commonTokens.options);
  readonly #part: number;
  readonly #seed: string;

  constructor({ mutantSample: { part, seed } = { part: 1, seed: '' } }: Options) {
    if (!(part > 0 && part <= 1)) throw new RangeError(`mutantSample.part must be over 0 and at most 1, not ${part}`);
    this.#part = part;
    this.#seed = seed;
  }

  async init() {}

  async check(mutants: Mutant[]): Promise<Record<string, CheckResult>> {
    const passed: CheckResult = { status: CheckStatus.Passed };
    return Object.fromEntries(mutants.map((each) => [each.id, this.#includes(each) ? passed : SKIPPED]));
  }

  /** One group, because mutants are checked independently. */
  async group(mutants: Mutant[]): Promise<string[][]> {
    return [mutants.map(({ id }) => id)];
  }

  #includes({ fileName, location, mutatorName, replacement }: Mutant): boolean {
    const mutant = [this.#seed, relative('', fileName), location, mutatorName, replacement];
    const drawn = createHash('sha256').update(JSON.stringify(mutant)).digest().readUInt32BE();
    return drawn < this.#part * 2 ** 32;
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.Checker, 'sample', Sample)];
