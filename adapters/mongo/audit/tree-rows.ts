/** Stores the transparency log in a database of its own: unlike read models it cannot be rebuilt. */
import { Binary, type Db, Long } from 'mongodb';
import {
  cutTile,
  LEVELS,
  levelWidth,
  type StoredTile,
  TILE_WIDTH,
  type TileId,
  type TreeStore,
} from '../../../application/audit/index.js';
import { isDuplicateKey } from '../call-policy.js';

interface TileRow {
  readonly _id: string;
  /** Hashes or entries in it. */
  readonly width: number;
  readonly bytes: Binary;
  /** Only of bundles. */
  readonly first?: Long;
}

interface HeadRow {
  readonly _id: 'head';
  readonly size: number;
  readonly position: Long;
  readonly checkpoint?: string;
  readonly cosigned?: string;
  readonly key: string;
  readonly keyNumber?: number;
  readonly restarts: readonly { readonly index: number; readonly position: Long }[];
}

const HEAD = { _id: 'head' } as const;
const idOf = ({ level, index }: TileId) => `${level}/${index}`;

export function createTreeStore(db: Db): TreeStore {
  const tiles = db.collection<TileRow>('tiles');
  const heads = db.collection<HeadRow>('head');
  let isIndexed = false;

  const rowOf = ({ width, bytes, first }: StoredTile) => ({
    width,
    bytes: new Binary(bytes),
    ...(first === undefined ? {} : { first: Long.fromBigInt(first) }),
  });

  const readTile: TreeStore['readTile'] = async (tile, width) => {
    const row = await tiles.findOne({ _id: idOf(tile) });
    return row && row.width >= width ? Buffer.from(row.bytes.value()) : undefined;
  };

  return {
    readTile,

    async head() {
      const row = await heads.findOne(HEAD);
      if (!row) return undefined;
      const { size, position, checkpoint, cosigned, key, keyNumber = 1, restarts } = row;
      return {
        size,
        position: position.toBigInt(),
        checkpoint: checkpoint ?? undefined,
        cosigned: cosigned ?? undefined,
        key,
        keyNumber,
        restarts: restarts.map((restart) => ({ ...restart, position: restart.position.toBigInt() })),
      };
    },

    async append(written, head) {
      if (!isIndexed) await tiles.createIndex({ first: 1 });
      isIndexed = true;
      const writes = written.map((tile) => ({
        updateOne: {
          filter: { _id: idOf(tile), width: { $lte: tile.width } },
          update: { $set: rowOf(tile) },
          upsert: true,
        },
      }));
      if (writes.length > 0) await tiles.bulkWrite(writes, { ordered: false }).catch(ignoreGrown);
      const update = { $set: headFields(head) };
      await heads.updateOne({ ...HEAD, size: { $lte: head.size } }, update, { upsert: true }).catch(ignoreGrown);
    },

    async setCosigned(checkpoint) {
      await heads.updateOne(HEAD, { $set: { cosigned: checkpoint } });
    },

    async nextKey() {
      const { keyNumber = 1 } = (await heads.findOne(HEAD)) ?? {};
      await heads.updateOne(HEAD, { $set: { keyNumber: keyNumber + 1 } });
    },

    async findBundle(position) {
      const at = { first: { $lte: Long.fromBigInt(position) } };
      const [row] = await tiles
        .find(at, { projection: { _id: 1 } })
        .sort({ first: -1 })
        .limit(1)
        .toArray();
      return row && Number(row._id.slice(row._id.indexOf('/') + 1));
    },

    async truncate(size, position) {
      const head = await heads.findOne(HEAD);
      if (!head) return;
      const restarts = head.restarts.filter(({ index }) => index < size);
      await heads.updateOne(HEAD, {
        $set: { size, position: Long.fromBigInt(position), restarts },
        $unset: { checkpoint: true, cosigned: true },
      });
      for (const level of LEVELS) {
        const width = levelWidth(level, size);
        const last = Math.floor(width / TILE_WIDTH);
        for (let index = last; await truncateTile({ level, index }, Math.max(0, width - index * TILE_WIDTH)); index++);
      }
    },
  };

  /** Returns whether there was such a tile. */
  async function truncateTile(tile: TileId, width: number): Promise<boolean> {
    const bytes = await readTile(tile, 0);
    if (!bytes) return false;
    if (width === 0) await tiles.deleteOne({ _id: idOf(tile) });
    else
      await tiles.updateOne({ _id: idOf(tile) }, { $set: { width, bytes: new Binary(cutTile(tile, bytes, width)) } });
    return true;
  }
}

const headFields = ({ size, position, checkpoint, key, restarts }: Parameters<TreeStore['append']>[1]) => ({
  size,
  position: Long.fromBigInt(position),
  ...(checkpoint === undefined ? {} : { checkpoint }),
  key,
  restarts: restarts.map((restart) => ({ ...restart, position: Long.fromBigInt(restart.position) })),
});

/** A row that has grown further collided with the upsert. */
function ignoreGrown(error: unknown): void {
  if (!isDuplicateKey(error)) throw error;
}
