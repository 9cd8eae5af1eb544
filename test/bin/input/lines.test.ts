/** Splits a byte stream into lines and batches, however it is chunked. */
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { batchesOf, type Line } from '../../../bin/commands/input/lines.js';

const OPTIONS = { lineBytes: 20, batchLines: 3, batchBytes: 45 };

async function* chunked(text: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  let from = 0;
  for (const cut of [...cuts, text.length].map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b)) {
    yield text.subarray(from, cut);
    from = cut;
  }
}

async function all(batches: AsyncIterable<Line[]>): Promise<Line[][]> {
  const found: Line[][] = [];
  for await (const batch of batches) found.push(batch);
  return found;
}

describe('batches of lines from a stream', () => {
  it('are independent of chunking and carry line numbers', async () => {
    const text = fc.array(fc.constantFrom('a', 'é', '{}', '\n', '\r\n', ' ', 'x'.repeat(19), 'y'.repeat(30)));
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat(200)), async (parts, cuts) => {
        const whole = Buffer.from(parts.join(''));
        const lines = whole.toString('latin1').split(/(?<=\n)/);
        const expected = lines
          .map((line, index) => ({ number: index + 1, text: line }))
          .filter(({ text }) => text.length > 20 || text.trim() !== '')
          .map(({ number, text }) => (text.length > 20 ? { number } : { number, text }));
        const batches = await all(batchesOf(chunked(whole, cuts), OPTIONS));
        const found = batches.flat().map(({ number, bytes }) => ({
          number,
          ...(bytes ? { text: bytes.toString('latin1') } : {}),
        }));
        expect(found).to.deep.equal(expected);
        for (const batch of batches) {
          expect(batch.length).to.be.within(1, 3);
          const size = batch.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0);
          expect(size).to.be.at.most(45);
        }
      }),
    );
  });

  it('are split identically when a file is read twice', async () => {
    const whole = Buffer.from('{"a":1}\n'.repeat(50));
    const once = await all(batchesOf(chunked(whole, [7, 100, 333]), OPTIONS));
    expect(await all(batchesOf(chunked(whole, [8, 9, 250]), OPTIONS))).to.deep.equal(once);
  });

  it('are delivered in time while the source is still writing', async () => {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    async function* slow() {
      yield Buffer.from('{"a":1}\n{"half"');
      await finished;
      yield Buffer.from(':2}\n');
    }
    const batches = batchesOf(slow(), { ...OPTIONS, lingerMs: 20 });
    expect((await batches.next()).value).to.have.length(1);
    finish();
    expect((await batches.next()).value?.[0]).to.deep.include({
      number: 2,
      bytes: Buffer.from('{"half":2}\n'),
    });
    expect((await batches.next()).done).to.equal(true);
  });

  it('are not read ahead of the consumer', async () => {
    let given = 0;
    async function* fast() {
      for (; given < 1000; given++) yield Buffer.from('{}\n'.repeat(10));
    }
    const batches = batchesOf(fast(), OPTIONS);
    await batches.next();
    for (let turn = 0; turn < 20; turn++) await setImmediate();
    expect(given).to.be.lessThan(5);
    await batches.return(undefined);
  });

  it('report a source error after all earlier lines', async () => {
    async function* broken() {
      yield Buffer.from('{}\n{}\n{}\n{}\n');
      throw new Error('gone');
    }
    const batches = batchesOf(broken(), OPTIONS);
    expect((await batches.next()).value).to.have.length(3);
    expect(await batches.next().catch((error) => error.message)).to.equal('gone');
  });
});
