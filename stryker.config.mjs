/** Mutation testing: which wrong lines would the tests let through? See "Contributing" in the README. */
export default {
  mutate: [
    'domain/**/*.ts',
    'application/**/*.ts',
    'projections/**/*.ts',
    'adapters/eventstore/**/*.ts',
    'adapters/mongo/**/*.ts',
  ],
  plugins: ['./dist/test/mutation/mocha-runner.js'],
  testRunner: 'annals',
  // What these test they run in their own process: a mutant is not awake in programs that a test starts.
  mochaTests: ['domain', 'application', 'projections', 'adapters', 'relay'].map(
    (each) => `dist/test/${each}`,
  ),
  coverageAnalysis: 'perTest',
  // What is made once at load (schemas, settings) would need a new process for each mutant.
  ignoreStatic: true,
  buildCommand: 'tsc --build',
  disableTypeChecks: true,
  // The TypeScript that is used here has no JavaScript interface: the sandbox takes tsconfig.json as it is.
  tsconfigFile: 'none',
  ignorePatterns: ['dist', 'data', 'reports', '.ci'],
  tempDirName: 'reports/mutation/sandbox',
  concurrency: 2,
  timeoutMS: 10_000,
  incremental: true,
  incrementalFile: 'reports/mutation/incremental.json',
  reporters: ['clear-text', 'html', 'json', 'progress-append-only'],
  clearTextReporter: { allowColor: false, reportTests: false },
  htmlReporter: { fileName: 'reports/mutation/index.html' },
  jsonReporter: { fileName: 'reports/mutation/mutation.json' },
  warnings: { unknownOptions: false },
};
