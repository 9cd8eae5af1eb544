/** Objects for `process.nextTick` keep their shape: one of them survives every collection. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';

const TICKS = new URL(import.meta.resolve('@annals/engines'));

/** Prints how many of the objects created so far survive full collections while idle. */
const program = (begin: string) => `
  import { createHook } from 'node:async_hooks';
  const made = [];
  createHook({
    init: (id, type, trigger, resource) => type === 'TickObject' && made.push(new WeakRef(resource)),
  }).enable();
  ${begin}
  for (let n = 0; n < 1000; n++) process.nextTick(() => {});
  setTimeout(() => {
    gc();
    setTimeout(() => {
      gc();
      console.log(made.filter((each) => each.deref()).length);
    });
  });
`;

const left = async (begin = '') => {
  const args = ['--expose-gc', '--input-type=module', '-e', program(begin)];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return Number(stdout);
};

describe('next ticks', () => {
  it('leave nothing behind by default, and one permanent object when tuned', async () => {
    expect(await left()).to.equal(0);
    const begin = `const { tuneNextTick } = await import(${JSON.stringify(fileURLToPath(TICKS))}); tuneNextTick(); tuneNextTick();`;
    expect(await left(begin)).to.equal(1);
  });
});
