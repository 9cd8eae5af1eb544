/**
 * Mutation testing: which wrong lines would the tests let through? See "Contributing" in the README for the
 * environment that makes a run smaller.
 */
const { MUTATE_SAMPLE: part, MUTATE_SEED: seed = '1', MUTATE_TESTS: tested } = process.env;

// Most mutants keep away what a test waits for: then it fails, and need not be killed with its process.
process.env.PATIENCE_MS ??= '8000';

export default {
  mutate: [
    'domain/**/*.ts',
    'application/**/*.ts',
    'projections/**/*.ts',
    'adapters/eventstore/**/*.ts',
    'adapters/mongo/**/*.ts',
  ],
  plugins: ['./dist/test/mutation/mocha-runner.js', './dist/test/mutation/sample.js'],
  testRunner: 'annals',
  checkers: part ? ['sample'] : [],
  mutantSample: part && { part: Number(part), seed },
  // What these test they run in their own process: a mutant is not awake in programs that a test starts.
  mochaTests: (tested ?? 'domain application projections adapters contract/eventstore/scavenge.test.ts')
    .split(' ')
    .map((each) => `dist/test/${each.replace(/\.ts$/, '.js')}`),
  coverageAnalysis: 'perTest',
  // What is made once at load (schemas, settings) would need a new process for each mutant.
  ignoreStatic: true,
  buildCommand: 'tsc --build engines .',
  disableTypeChecks: true,
  // The TypeScript that is used here has no JavaScript interface: the sandbox takes tsconfig.json as it is.
  tsconfigFile: 'none',
  ignorePatterns: ['dist', 'data', 'reports', '.ci'],
  tempDirName: 'reports/mutation/sandbox',
  concurrency: 2,
  timeoutMS: 10_000,
  dryRunTimeoutMinutes: 30,
  incremental: true,
  // What a sample leaves out would seem measured to a larger one.
  incrementalFile: `reports/mutation/incremental${part ? `-${part}-${seed}` : ''}.json`,
  reporters: ['clear-text', 'html', 'json', 'progress-append-only'],
  clearTextReporter: { allowColor: false, reportTests: false },
  htmlReporter: { fileName: 'reports/mutation/index.html' },
  jsonReporter: { fileName: 'reports/mutation/mutation.json' },
  warnings: { unknownOptions: false },
};
