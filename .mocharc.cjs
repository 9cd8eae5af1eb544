/** How tests are run: three files at a time by `npm test`, since much of it is waiting, but one where all share the servers that are given. */
const { npm_lifecycle_event: script, EVENTSTORE_URL: eventStore, MONGODB_URL: mongo } = process.env;

module.exports = {
  // V8 optimizes code later: most processes of the tests end before that pays. Servers and commands under test get the flag too.
  'node-option': ['enable-source-maps', 'interrupt-budget=600000'],
  require: ['./dist/test/support/mocha-hooks.js'],
  parallel: script === 'test' && !eventStore && !mongo,
  jobs: 3,
  timeout: 120_000,
  slow: 2000,
  exit: false,
};
