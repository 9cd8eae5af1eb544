/** Tiles: their paths, and which ones a tree has. */
import { expect } from 'chai';
import { parseTilePath, tilePath, tilesOf } from '../../../application/audit/tiles.js';

describe('the tiles of a transparency log', () => {
  it('have the paths of the specification', () => {
    expect(tilePath({ level: 3, index: 1_234_067 })).to.equal('tile/3/x001/x234/067');
    expect(tilePath({ level: 'entries', index: 5 }, 17)).to.equal('tile/entries/005.p/17');
    for (const path of ['tile/3/x001/x234/067', 'tile/entries/005.p/17', 'tile/0/000'])
      expect(tilePath(parseTilePath(path)!.tile, parseTilePath(path)!.width)).to.equal(path);
    for (const path of [
      'tile/0/0',
      'tile/7/000',
      'tile/00/000',
      'tile/0/x000/001',
      'tile/0/000.p/256',
      'tile/0/000.p/01',
      'tile/0/../000',
    ])
      expect(parseTilePath(path), path).to.equal(undefined);
  });

  it('of 70,000 entries are those of the example in the specification', () => {
    const tiles = [...tilesOf(70_000)].filter(({ level }) => level !== 'entries');
    const widths = (wanted: number) => tiles.filter(({ level }) => level === wanted).map(({ width }) => width);
    expect(widths(0)).to.deep.equal([...Array(273).fill(256), 112]);
    expect([widths(1), widths(2), widths(3)]).to.deep.equal([[256, 17], [1], []]);
  });
});
