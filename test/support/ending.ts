/** The end of a run: what is left over then fails it, and is named, where it would keep the run from ending for ever. */

const GRACE_MS = 30_000;

export const mochaHooks = {
  afterAll() {
    const timer = setTimeout(() => {
      const left = process.getActiveResourcesInfo().filter((each) => each !== 'Timeout');
      process.stderr.write(`The tests are over and something goes on: ${left.join(', ') || 'a timer'}\n`);
      process.exit(1);
    }, GRACE_MS);
    timer.unref();
  },
};
