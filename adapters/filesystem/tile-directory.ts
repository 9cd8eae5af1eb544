/** Tiles of a transparency log as files, in the layout of C2SP `tlog-tiles`. */
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ReadTile, type TileId, tilePath } from '../../application/audit/index.js';

export const CHECKPOINT_FILE = 'checkpoint';

/** Reads tiles of a directory; a full tile stands for a partial one. */
export const createTileReader =
  (directory: string): ReadTile =>
  async (tile, width) =>
    readIfExists(join(directory, tilePath(tile, width))) ?? readIfExists(join(directory, tilePath(tile)));

export const hasFullTile = (directory: string, tile: TileId): boolean =>
  statSync(join(directory, tilePath(tile)), { throwIfNoEntry: false }) !== undefined;

export function writeTile(directory: string, tile: TileId, width: number, bytes: Uint8Array): void {
  const path = join(directory, tilePath(tile, width));
  mkdirSync(dirname(path), { recursive: true });
  writeWhole(path, bytes);
}

export const writeCheckpoint = (directory: string, checkpoint: string): void =>
  writeWhole(join(directory, CHECKPOINT_FILE), checkpoint);

/** Flushes before it renames: a full disk or a crash leaves no part of a tile, which later exports would take for whole. */
function writeWhole(path: string, content: string | Uint8Array): void {
  const unfinished = `${path}.unfinished`;
  writeFileSync(unfinished, content, { flush: true });
  renameSync(unfinished, path);
}

function readIfExists(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && ['ENOENT', 'ENOTDIR'].includes(String(error.code)))
      return undefined;
    throw error;
  }
}
