/** Tiles as files: one that could not be written whole is not there. */
import { spawnSync } from 'node:child_process';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createTileReader, hasFullTile, writeTile } from '../../../adapters/filesystem/tile-directory.js';

const TILE = { level: 0, index: 7 } as const;
const BYTES = Buffer.alloc(8192, 1);

describe('the directory of tiles', () => {
  const directory = temporaryDirectory();
  after(directory.remove);

  it('has no tile that did not fit on the disk, so that the next export writes it', async () => {
    const module = new URL('../../../adapters/filesystem/tile-directory.js', import.meta.url);
    const write = `import('${module}').then(({ writeTile }) =>
      writeTile('${directory.path}', { level: 0, index: 7 }, 256, Buffer.alloc(8192, 1)))`;
    // Files of at most 4 KiB.
    const limited = `trap '' XFSZ; ulimit -f 4; exec '${process.execPath}' -e "${write}"`;
    expect(spawnSync('bash', ['-c', limited], { encoding: 'utf8' }).stderr).to.include('EFBIG');
    expect(hasFullTile(directory.path, TILE)).to.equal(false);
    writeTile(directory.path, TILE, 256, BYTES);
    expect(await createTileReader(directory.path)(TILE, 256)).to.deep.equal(BYTES);
  });
});
