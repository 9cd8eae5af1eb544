/** A transparency log in memory, for tests that also tamper with it. */
import {
  cutTile,
  type StoredTile,
  type TileId,
  type TreeHead,
  type TreeStore,
  tilePath,
} from '../../application/audit/index.js';

export function memoryTreeStore() {
  const tiles = new Map<string, StoredTile>();
  const state: { head?: TreeHead | undefined } = {};
  const store: TreeStore = {
    head: async () => state.head,
    async readTile(tile, width) {
      const found = tiles.get(tilePath(tile));
      return found && found.width >= width ? found.bytes : undefined;
    },
    async append(written, head) {
      for (const tile of written)
        if (!((tiles.get(tilePath(tile))?.width ?? 0) > tile.width)) tiles.set(tilePath(tile), tile);
      state.head = { ...state.head, ...head, keyNumber: state.head?.keyNumber ?? 1 };
    },
    async setCosigned(checkpoint) {
      state.head = { ...state.head!, cosigned: checkpoint };
    },
    async nextKey() {
      state.head = { ...state.head!, keyNumber: state.head!.keyNumber + 1 };
    },
    async findBundle(position) {
      const bundles = [...tiles.values()].filter(({ first }) => first !== undefined && first <= position);
      return bundles.sort((a, b) => Number(b.first! - a.first!))[0]?.index;
    },
    async truncate() {
      throw new Error('not in memory');
    },
  };
  return {
    store,
    tiles,
    /** Replaces a tile. */
    tamper(tile: TileId, change: (bytes: Buffer) => Buffer) {
      const { width, ...found } = tiles.get(tilePath(tile))!;
      const bytes = change(Buffer.from(cutTile(tile, found.bytes, width)));
      tiles.set(tilePath(tile), { ...found, width, bytes });
    },
  };
}
