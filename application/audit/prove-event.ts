/** Proves that an event is in the transparency log. */
import type { Position } from '../ports/index.js';
import { type Proof, parseCheckpoint } from './checkpoint.js';
import { parseAuditEntry } from './log-entry.js';
import { inclusionProof } from './merkle-tree.js';
import { nodeReader, readBundle, TILE_WIDTH } from './tiles.js';
import type { TreeStore } from './tree-store.js';

/** Returns the proof that the event at a position is in the tree of a checkpoint; undefined if it is not. */
export async function proveEvent(store: TreeStore, checkpoint: string, position: Position): Promise<Proof | undefined> {
  const { size = 0 } = parseCheckpoint(checkpoint) ?? {};
  const bundle = (await store.findBundle(position)) ?? 0;
  const lines = (await readBundle(store.readTile, bundle, 0)) ?? [];
  const offset = lines.findIndex((line) => {
    const entry = parseAuditEntry(line);
    return entry && 'position' in entry && entry.position === String(position);
  });
  const [index, entry] = [bundle * TILE_WIDTH + offset, lines[offset]];
  if (!entry || index >= size) return undefined;
  return { entry, index, path: await inclusionProof(index, size, nodeReader(size, store.readTile)), checkpoint };
}
