/** What a migration copies beside the log: keys, files, checkpoints of process managers, and the transparency log. */
import { type Document, Long } from 'mongodb';
import { followCopies } from '../../../adapters/eventstore/compare-logs.js';
import { createRetentionLookup } from '../../../adapters/eventstore/event-log.js';
import { listDirectoryStore } from '../../../adapters/filesystem/copy-store.js';
import { createTreeStore } from '../../../adapters/mongo/audit/tree-rows.js';
import { copyDocuments } from '../../../adapters/mongo/copy-documents.js';
import { importBlob } from '../../../adapters/mongo/gridfs-blobs.js';
import {
  compareLog,
  Difference,
  explainMissing,
  MissingTileError,
  parseCheckpoint,
  verifyTree,
} from '../../../application/audit/index.js';
import { directoryOf, GRID_FS } from '../../services/chat/messaging.js';
import type { AnnalsValues } from '../../settings.js';
import { Failed } from '../failure.js';
import type { Migration } from './stores.js';

/** Keys stay wrapped under the secret of the source. */
export async function copyKeys({ from, to }: Migration): Promise<number> {
  // Links to former secrets first: they open keys.
  await copyDocuments(from.keys, to.keys, 'secrets');
  return copyDocuments(from.keys, to.keys, 'keys');
}

export async function copyFiles({ to, signal }: Migration, values: AnnalsValues) {
  let [files, bytes] = [0, 0];
  for (const blob of listDirectoryStore(directoryOf(values))) {
    signal.throwIfAborted();
    await importBlob(to.models, GRID_FS, blob);
    files++;
    bytes += blob.size;
  }
  return { files, bytes };
}

/** Copies checkpoints, and the transparency log, whose positions stay valid. */
export async function copyOtherDocuments({ from, to }: Migration) {
  const checkpoints = await copyDocuments(from.models, to.models, 'checkpoints', permanentCheckpoint);
  for (const name of ['tiles', 'head']) await copyDocuments(from.audit, to.audit, name);
  return { checkpoints };
}

/**
 * Selects the checkpoints of process managers and the resume windows, not those of read models and snapshots, which are
 * built again. Leases and their fencing tokens start again.
 */
const permanentCheckpoint = ({ _id, position, from }: Document): Document | undefined =>
  /^(?:reaction|window):/.test(String(_id))
    ? { _id, position, fence: Long.ZERO, ...(from === undefined ? {} : { from }) }
    : undefined;

/** Compares the copied log with the copied transparency log. Returns the number of entries; undefined if there is none. */
export async function compareTransparencyLog({ to, target, logger, prefixes, signal }: Migration) {
  const store = createTreeStore(to.audit);
  const head = await store.head();
  const checkpoint = parseCheckpoint(head?.checkpoint ?? '');
  if (!head || !checkpoint) return undefined;
  try {
    const log = followCopies({ target, logger })({ prefixes, from: 'start', signal });
    const comparison = await compareLog(verifyTree(checkpoint, store.readTile), log, head);
    await explainMissing(comparison, async () => 'missing', createRetentionLookup(target));
    return checkpoint.size;
  } catch (error) {
    if (!(error instanceof Difference || error instanceof MissingTileError)) throw error;
    throw new Failed(`${error.message}; compare with "annals audit verify" on the data directory`);
  }
}
