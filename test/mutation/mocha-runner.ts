/** Stryker's test runner for this project's mocha: Stryker's own looks for files that mocha 12 renamed. What a `before` hook covers counts for the first test of its suite, not as static. */
import { mkdirSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { INSTRUMENTER_CONSTANTS, type InstrumenterContext, type StrykerOptions } from '@stryker-mutator/api/core';
import { commonTokens, declareClassPlugin, PluginKind, tokens } from '@stryker-mutator/api/plugin';
import {
  type DryRunOptions,
  type DryRunResult,
  DryRunStatus,
  determineHitLimitReached,
  type MutantRunOptions,
  type MutantRunResult,
  type TestResult,
  type TestRunner,
  TestStatus,
  toMutantRunResult,
} from '@stryker-mutator/api/test-runner';
import fc from 'fast-check';
import Mocha from 'mocha';

/** Stryker option `mochaTests`: compiled test files, or folders of them. */
interface Options extends StrykerOptions {
  readonly mochaTests?: readonly string[];
}

class MochaRunner implements TestRunner {
  static readonly inject = tokens(commonTokens.options);
  readonly #mocha = new Mocha({ timeout: 0 });
  readonly #tested: readonly string[];
  readonly #ignoreStatic: boolean;
  #tests: TestResult[] = [];
  #loaded = false;
  #running = false;

  constructor(options: Options) {
    this.#tested = options.mochaTests ?? [];
    this.#ignoreStatic = options.ignoreStatic;
  }

  async capabilities() {
    return { reloadEnvironment: false };
  }

  async init() {
    // Only whether there is a counterexample matters here, so it is not shrunk.
    fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true });
    // A hanging mutant is killed with this process; its leftover files are deleted with the sandbox.
    process.env.TMPDIR = resolve('tmp');
    mkdirSync(process.env.TMPDIR, { recursive: true });
    for (const file of this.#tested.flatMap(testsIn)) this.#mocha.addFile(resolve(file));
    this.#mocha.cleanReferencesAfterRun(false);
    const tests = () => this.#tests;
    this.#mocha.reporter(
      class extends Mocha.reporters.Base {
        constructor(runner: Mocha.Runner) {
          super(runner);
          follow(runner, (result) => tests().push(result));
        }
      },
    );
    // Loading here does not count towards the first mutant's time limit, which a slow machine would exceed after each restart.
    if (this.#ignoreStatic) await this.#load();
  }

  async #load() {
    if (!this.#loaded) await this.#mocha.loadFilesAsync();
    this.#loaded = true;
  }

  async dryRun({ coverageAnalysis, disableBail }: DryRunOptions): Promise<DryRunResult> {
    const result = await this.#run(disableBail);
    if (result.status !== DryRunStatus.Complete || coverageAnalysis === 'off') return result;
    const { mutantCoverage } = instrumenter();
    return mutantCoverage ? { ...result, mutantCoverage } : result;
  }

  async mutantRun(options: MutantRunOptions): Promise<MutantRunResult> {
    const { activeMutant, testFilter, disableBail, hitLimit, mutantActivation } = options;
    Object.assign(instrumenter(), { hitLimit, hitCount: hitLimit === undefined ? undefined : 0 });
    const chosen = testFilter?.map((name) => `^${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`).join('|');
    this.#mocha.grep(new RegExp(chosen ?? ''));
    return toMutantRunResult(await this.#run(disableBail, activeMutant.id, mutantActivation === 'static'));
  }

  async #run(disableBail: boolean, mutant?: string, fromLoad = false): Promise<DryRunResult> {
    const context = instrumenter();
    context.activeMutant = fromLoad ? mutant : undefined;
    try {
      await this.#load();
      bail(this.#mocha.suite, !disableBail);
      context.activeMutant = mutant;
      this.#tests = [];
      this.#running = true;
      await new Promise<void>((resolve) => this.#mocha.run(() => resolve()));
      this.#running = false;
    } catch (error) {
      return { status: DryRunStatus.Error, errorMessage: String(error) };
    }
    const endless = determineHitLimitReached(context.hitCount, context.hitLimit);
    return endless ?? { status: DryRunStatus.Complete, tests: this.#tests };
  }

  async dispose() {
    // A mutant that waits forever is still running; it ends with the process.
    if (!this.#running) this.#mocha.dispose();
  }
}

function testsIn(path: string): readonly string[] {
  if (path.endsWith('.test.js')) return [path];
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).sort();
  return names.flatMap((name) => (name.endsWith('.test.js') ? join(path, name) : []));
}

/** The context shared with the instrumented code. */
function instrumenter(): InstrumenterContext {
  const all = globalThis as unknown as { [name: string]: InstrumenterContext | undefined };
  const context = all[INSTRUMENTER_CONSTANTS.NAMESPACE] ?? {};
  all[INSTRUMENTER_CONSTANTS.NAMESPACE] = context;
  return context;
}

function bail(suite: Mocha.Suite, value: boolean): void {
  suite.bail(value);
  for (const each of suite.suites) bail(each, value);
}

/** Tests may replace the clock. */
const realNow = performance.now.bind(performance);

/** Reports the result of each test, and tells the instrumented code which test is running. */
function follow(runner: Mocha.Runner, ended: (result: TestResult) => void): void {
  let began = realNow();
  const describeTest = ({ file }: Mocha.Runnable, name: string) => {
    const result = { id: name, name, timeSpentMs: Math.round(realNow() - began) };
    began = realNow();
    return file === undefined ? result : { ...result, fileName: sourceOf(file) };
  };
  const running = (test: Mocha.Test | undefined) => {
    if (test) instrumenter().currentTestId = test.fullTitle();
  };
  runner.on('suite', (suite) => running(firstOf(suite)));
  runner.on('test', running);
  runner.on('pass', (test) => ended({ ...describeTest(test, test.fullTitle()), status: TestStatus.Success }));
  runner.on('fail', (test, error) => {
    const name = (test.ctx?.currentTest ?? test).fullTitle();
    ended({ ...describeTest(test, name), status: TestStatus.Failed, failureMessage: String(error?.stack ?? error) });
  });
}

const sourceOf = (compiled: string) => compiled.replace(`${resolve('dist')}/`, '').replace(/js$/, 'ts');

const firstOf = ({ tests, suites }: Mocha.Suite): Mocha.Test | undefined =>
  tests[0] ?? suites.map(firstOf).find((each) => each !== undefined);

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'annals', MochaRunner)];
