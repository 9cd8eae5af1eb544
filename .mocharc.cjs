/** How tests are run: three files at a time by `npm test`, since much of it is waiting, but one where all share the servers that are given. */
const { existsSync, readdirSync } = require('node:fs');
const { npm_lifecycle_event: script, EVENTSTORE_URL: eventStore, MONGODB_URL: mongo } = process.env;

/**
 * All test files. Those that encode video are spread among the others, as several at once overload a small machine; short
 * ones come last, so that no core is idle at the end.
 */
function testFiles() {
  const files = ['engines/dist/test', 'dist/test']
    .filter((directory) => existsSync(directory))
    .flatMap((directory) => readdirSync(directory, { recursive: true }).map((file) => `${directory}/${file}`))
    .filter((file) => file.endsWith('.test.js'))
    .sort((a, b) => Number(a.includes('/domain/')) - Number(b.includes('/domain/')) || (a < b ? 1 : -1));
  const encoding = files.filter((file) => file.includes('/web/meeting'));
  const others = files.filter((file) => !encoding.includes(file));
  const distance = Math.ceil(others.length / (encoding.length + 1));
  const spread = others.flatMap((file, index) => [...(index % distance === 0 ? encoding.splice(0, 1) : []), file]);
  return [...spread, ...encoding];
}

module.exports = {
  // V8 optimizes code later: most processes of the tests end before that pays. Servers and commands under test get the flag too.
  'node-option': ['enable-source-maps', 'interrupt-budget=600000'],
  require: ['./dist/test/support/mocha-hooks.js'],
  ...(script === 'test' && { spec: testFiles() }),
  parallel: script === 'test' && !eventStore && !mongo,
  jobs: 3,
  timeout: 120_000,
  slow: 2000,
  exit: false,
};
