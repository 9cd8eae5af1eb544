/**
 * Tiles of a Merkle tree, as in C2SP `tlog-tiles`: a tile at level 0 has up to 256 leaf hashes, one at a higher level the
 * roots of 256 full tiles below. Entries are stored in bundles, one per tile of level 0.
 */
import { hashLeaf, perfectRoot, type ReadNode } from './merkle-tree.js';

/** Hashes in a full tile, entries in a full bundle. */
export const TILE_WIDTH = 256;
/** Log2 of the width. */
const TILE_HEIGHT = 8;
export const HASH_BYTES = 32;

/** A tile of hashes, or a bundle of entries. */
export interface TileId {
  readonly level: number | 'entries';
  readonly index: number;
}

/** Entries, then the levels of a tree from its leaves up; enough for 2 ** 56 entries. */
export const LEVELS = ['entries', 0, 1, 2, 3, 4, 5, 6] as const;

/** Entries or hashes at a level of the tree of `size` leaves, in all its tiles together. */
export const levelWidth = (level: TileId['level'], size: number): number =>
  Math.floor(size / TILE_WIDTH ** (level === 'entries' ? 0 : level));

/** Tiles of a tree with their widths, entries first, then from the leaves up. */
export function* tilesOf(size: number): Generator<TileId & { readonly width: number }> {
  for (const level of LEVELS) {
    const width = levelWidth(level, size);
    for (let index = 0; index * TILE_WIDTH < width; index++)
      yield { level, index, width: Math.min(TILE_WIDTH, width - index * TILE_WIDTH) };
  }
}

/** `tile/0/x001/x234/067`, or `tile/entries/000.p/17` for a partial one. */
export function tilePath({ level, index }: TileId, width = TILE_WIDTH): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g)!;
  const path = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/');
  return `tile/${level}/${path}${width === TILE_WIDTH ? '' : `.p/${width}`}`;
}

const PATH = /^tile\/(entries|[0-6])\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;

/** Inverse of `tilePath`; undefined if it is not the path of a tile. */
export function parseTilePath(path: string): { readonly tile: TileId; readonly width: number } | undefined {
  const [, level, groups, partial] = PATH.exec(path) ?? [];
  if (level === undefined || groups === undefined) return undefined;
  const tile: TileId = {
    level: level === 'entries' ? level : Number(level),
    index: Number(groups.replace(/[x/]/g, '')),
  };
  const width = partial === undefined ? TILE_WIDTH : Number(partial);
  // Each tile has one path.
  return tilePath(tile, width) === path && (partial === undefined || width < TILE_WIDTH) ? { tile, width } : undefined;
}

/** Resolves with at least `width` hashes or entries of a tile; with undefined if it does not have them. */
export type ReadTile = (tile: TileId, width: number) => Promise<Buffer | undefined>;

/** A tile that the tree must have is missing. */
export class MissingTileError extends Error {
  override readonly name = 'MissingTileError';

  constructor(readonly tile: TileId) {
    super(`${tilePath(tile)} is missing or too short`);
  }
}

/**
 * Reads nodes of the tree of `size` leaves, and of every smaller one, from its tiles. Each tile is read once. Rejects with
 * `MissingTileError`.
 */
export function nodeReader(size: number, read: ReadTile): ReadNode {
  const tiles = new Map<string, Promise<readonly Buffer[]>>();
  const load = async (tile: TileId, width: number) => {
    const bytes = await read(tile, width);
    if (!bytes) throw new MissingTileError(tile);
    return splitHashes(bytes.subarray(0, width * HASH_BYTES));
  };
  return async (height, index) => {
    const level = Math.floor(height / TILE_HEIGHT);
    const count = 2 ** (height % TILE_HEIGHT);
    const first = index * count;
    const tile = { level, index: Math.floor(first / TILE_WIDTH) };
    const width = Math.min(TILE_WIDTH, levelWidth(level, size) - tile.index * TILE_WIDTH);
    const path = tilePath(tile);
    if (!tiles.has(path)) tiles.set(path, load(tile, width));
    const hashes = await tiles.get(path)!;
    return perfectRoot(hashes.slice(first % TILE_WIDTH, (first % TILE_WIDTH) + count));
  };
}

export const splitHashes = (bytes: Buffer): readonly Buffer[] =>
  Array.from({ length: bytes.length / HASH_BYTES }, (_, index) =>
    bytes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
  );

const LENGTH_BYTES = 2;
/** Bytes of the longest entry, as its length is a uint16. */
const MAX_ENTRY_BYTES = 65_535;

export function encodeEntry(entry: Buffer): Buffer {
  if (entry.length > MAX_ENTRY_BYTES) throw new RangeError(`an entry has at most ${MAX_ENTRY_BYTES} bytes`);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt16BE(entry.length);
  return Buffer.concat([length, entry]);
}

/** Entries of a bundle; undefined if it is malformed. */
export function decodeBundle(bundle: Buffer): readonly Buffer[] | undefined {
  const entries: Buffer[] = [];
  for (let at = 0; at < bundle.length; ) {
    if (at + LENGTH_BYTES > bundle.length) return undefined;
    const start = at + LENGTH_BYTES;
    at = start + bundle.readUInt16BE(at);
    if (at > bundle.length) return undefined;
    entries.push(bundle.subarray(start, at));
  }
  return entries;
}

/** Reads the entries of a bundle, which has at least `width` of them; undefined if it is missing or malformed. */
export async function readBundle(read: ReadTile, index: number, width: number): Promise<readonly Buffer[] | undefined> {
  const bundle = await read({ level: 'entries', index }, width);
  return bundle && decodeBundle(bundle);
}

/** Returns the first hashes or entries of a tile. */
export const cutTile = ({ level }: TileId, bytes: Buffer, width: number): Buffer =>
  level === 'entries'
    ? Buffer.concat((decodeBundle(bytes) ?? []).slice(0, width).map(encodeEntry))
    : bytes.subarray(0, width * HASH_BYTES);

export interface WrittenTile extends TileId {
  /** Hashes or entries in it. */
  readonly width: number;
  readonly bytes: Buffer;
}

/** Incomplete tiles of a tree: bytes of the open bundle, and by level the hashes of the open tile. */
export interface OpenTiles {
  readonly size: number;
  readonly bundle: readonly Buffer[];
  readonly levels: readonly (readonly Buffer[])[];
}

/** Appends entries to a tree. Only incomplete tiles are in memory. */
export function createTileWriter(open: OpenTiles = { size: 0, bundle: [], levels: [] }) {
  let { size } = open;
  let bundle = [...open.bundle];
  const levels = open.levels.map((hashes) => [...hashes]);
  let full: WrittenTile[] = [];
  /** Tiles that changed since the last `takeTiles`. */
  const changed = new Set<number>();

  function addHash(level: number, hash: Buffer, index: number) {
    levels[level] ??= [];
    const hashes = levels[level];
    hashes.push(hash);
    changed.add(level);
    if (hashes.length < TILE_WIDTH) return;
    const tile = Math.floor(index / TILE_WIDTH);
    full.push({ level, index: tile, width: TILE_WIDTH, bytes: Buffer.concat(hashes) });
    levels[level] = [];
    addHash(level + 1, perfectRoot(hashes), tile);
  }

  /** Returns the tiles that were completed since the last call. */
  function takeFullTiles(): readonly WrittenTile[] {
    const tiles = full;
    full = [];
    return tiles;
  }

  return {
    get size() {
      return size;
    },
    append(entry: Buffer) {
      bundle.push(encodeEntry(entry));
      const index = size++;
      if (bundle.length === TILE_WIDTH) {
        full.push({
          level: 'entries',
          index: Math.floor(index / TILE_WIDTH),
          width: TILE_WIDTH,
          bytes: Buffer.concat(bundle),
        });
        bundle = [];
      }
      addHash(0, hashLeaf(entry), index);
    },
    takeFullTiles,
    /** Returns all tiles that changed since the last call, complete ones first. */
    takeTiles(): readonly WrittenTile[] {
      const partial = [...changed].sort().flatMap((level): WrittenTile[] => {
        const hashes = levels[level] ?? [];
        const index = Math.floor(size / TILE_WIDTH ** (level + 1));
        return hashes.length === 0 ? [] : [{ level, index, width: hashes.length, bytes: Buffer.concat(hashes) }];
      });
      const index = Math.floor(size / TILE_WIDTH);
      const last: WrittenTile = { level: 'entries', index, width: bundle.length, bytes: Buffer.concat(bundle) };
      const tiles = [...takeFullTiles(), ...(changed.size > 0 && last.width > 0 ? [last] : []), ...partial];
      changed.clear();
      return tiles;
    },
    /** Reads nodes of the right edge, as the root needs no others. */
    edge(): ReadNode {
      return async (height, index) => {
        const level = Math.floor(height / TILE_HEIGHT);
        const count = 2 ** (height % TILE_HEIGHT);
        const first = (index * count) % TILE_WIDTH;
        return perfectRoot((levels[level] ?? []).slice(first, first + count));
      };
    },
  };
}
