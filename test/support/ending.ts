/** The end of tests, of a file where files run side by side, else of all: what is left over then fails the run, and is named. */
import { eventually } from '@annals/engines/testing/condition.js';

/** What would go on without the tests, and beside the next ones. */
const OUTLIVES = ['ProcessWrap', 'TCPServerWrap'];
const GRACE_MS = 30_000;

const left = () => process.getActiveResourcesInfo().filter((each) => each !== 'Timeout');

export const mochaHooks = {
  async afterAll() {
    const outliving = () => left().filter((each) => OUTLIVES.includes(each));
    await eventually(() => outliving().length === 0)
      .catch(() => {
        throw new Error(`the tests are over and something goes on: ${outliving().join(', ')}`);
      })
      .finally(() => {
        // One of several processes is ended when the run is; the only one must come to an end by itself.
        if (process.env.MOCHA_WORKER_ID === undefined) keepsNothing();
      });
  },
};

function keepsNothing() {
  const timer = setTimeout(() => {
    process.stderr.write(`The tests are over and something goes on: ${left().join(', ') || 'a timer'}\n`);
    process.exit(1);
  }, GRACE_MS);
  timer.unref();
}
