/** The cache of values decoded from blocks: batches, versions, sharing, and its limit in bytes. */
import { expect } from 'chai';
import { type BlockVersion, createBlockCache } from '../../../../projections/kernel/block-index/block-cache.js';

interface Value {
  readonly text: string;
  readonly size: number;
}

describe('a block cache', () => {
  const block = (key: string, version = '1'): BlockVersion => ({ key, version });

  function cacheOf(limitBytes: number, scanResistant?: true) {
    const size = 800;
    const loads: string[][] = [];
    const blocks = createBlockCache<BlockVersion, Value>({
      name: 'test',
      limitBytes,
      sizeOf: (value) => value.size,
      ...(scanResistant && { scanResistant }),
      async load(requested) {
        loads.push(requested.map(({ key, version }) => `${key}${version}`));
        await new Promise(setImmediate);
        const existing = requested.filter(({ key }) => key !== 'gone');
        return new Map(existing.map(({ key, version }) => [key, { text: key + version, size }]));
      },
    });
    const read = async (...requested: BlockVersion[]) => (await blocks.read(requested)).map((value) => value?.text);
    return { ...blocks, read, loads };
  }

  it('reads what is missing in one batch, in the given order', async () => {
    const { read, loads } = cacheOf(100_000);
    expect(await read(block('a'))).to.deep.equal(['a1']);
    expect(await read(block('c'), block('a'), block('gone'), block('b'))).to.deep.equal(['c1', 'a1', undefined, 'b1']);
    expect(loads).to.deep.equal([['a1'], ['c1', 'gone1', 'b1']]);
    expect(await read(block('b'), block('c'))).to.deep.equal(['b1', 'c1']);
    expect(loads).to.have.length(2);
  });

  it('shares a running read, but only of the same version', async () => {
    const { read, loads } = cacheOf(100_000);
    const all = await Promise.all([read(block('a')), read(block('a'), block('b')), read(block('a', '2'))]);
    expect(all).to.deep.equal([['a1'], ['a1', 'b1'], ['a2']]);
    expect(loads).to.deep.equal([['a1'], ['b1'], ['a2']]);
  });

  it('replaces the earlier version of a block, even when it is full', async () => {
    const { read, loads, cache } = cacheOf(4000, true);
    for (const key of ['a', 'b', 'c']) await read(block(key));
    await read(block('d'));
    for (const version of ['2', '3']) expect(await read(block('a', version))).to.deep.equal([`a${version}`]);
    await read(block('a', '3'));
    expect(loads.flat().filter((each) => each.startsWith('a'))).to.deep.equal(['a1', 'a2', 'a3']);
    expect(cache.bytes()).to.be.at.most(4000);
  });

  it('keeps what was read last', async () => {
    const { read, loads, cache } = cacheOf(50_000);
    const all = Array.from({ length: 200 }, (_, index) => block(`each${index}`));
    for (const each of all) await read(each);
    expect(cache.bytes()).to.be.at.most(50_000);
    loads.length = 0;
    await read(...all.slice(-40));
    expect(loads).to.deep.equal([]);
  });

  it('keeps most of its blocks while a larger scan passes', async () => {
    const { read, loads, cache } = cacheOf(50_000, true);
    const usual = Array.from({ length: 45 }, (_, index) => block(`usual${index}`));
    await read(...usual);
    for (let index = 0; index < 120; index++) await read(block(`rare${index}`));
    expect(cache.bytes()).to.be.at.most(50_000);
    loads.length = 0;
    await read(...usual);
    expect(loads.flat().length).to.be.below(20);
  });
});
