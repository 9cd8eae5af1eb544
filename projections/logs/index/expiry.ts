/** Removes expired records from a build of the index: by their own time and by receipt. */
import type { RecordedEvent } from '../../../application/ports/index.js';
import type { LogsEvent } from '../../../domain/logs/catalog.js';
import { dayName } from '../../../domain/logs/timestamp.js';
import { type Build, longOf, positionGuarded } from '../../kernel/index.js';
import type { BlockRow, ExpiryRow } from './rows.js';
import { sectionsId } from './seal-block.js';
import { KINDS } from './sections.js';

/**
 * Records in the blocks deleted per store call: each may have an entry in the correlation index, and the store
 * blocks other work during the call.
 */
const DELETE_BATCH = 4000;
const LAST = 'last';

/**
 * A retention is a row, which hides what has expired at once. The rows of expired blocks are deleted in the background,
 * and after a restart. Cutoffs never decrease, so the last retention covers all earlier ones.
 */
export async function createExpiry(build: Build) {
  const read = () => build.collection<ExpiryRow>('expiry').findOne({ _id: LAST });
  let last = await read();
  let swept: ExpiryRow | null = null;
  let isSweeping = false;

  return {
    last: () => last,

    async expire(event: RecordedEvent<LogsEvent<'RecordsExpired'>>): Promise<void> {
      const { data, position } = event;
      const { before, auditBefore } = data;
      await build.write('expiry', [positionGuarded({ put: LAST, update: { $set: { before, auditBefore } } }, event)]);
      last = await read();
      const untouched = { _at: { $lt: longOf(position) } };
      for (const [audit, cutoff] of [[false, before] as const, [true, auditBefore] as const]) {
        const received = { audit, received: { $lt: dayName(cutoff) }, ...untouched };
        const hours = { audit, hour: { $lt: cutoff }, ...untouched };
        await build.write('hours', [{ deletePieces: { filter: hours } }, { deletePieces: { filter: received } }]);
        await build.write('buckets', [{ deletePieces: { filter: received } }]);
      }
    },

    /** Deletes the rows of expired blocks, unless that is done or running. If it fails, the next call starts again. */
    sweep() {
      const target = last;
      if (!target || target === swept || isSweeping) return;
      isSweeping = true;
      deleteBlocks(build, target)
        .then(() => {
          swept = target;
        })
        // A store that refuses it refuses the writes of events as well, which report that.
        .catch(() => {})
        .finally(() => {
          isSweeping = false;
        });
    },
  };
}

async function deleteBlocks(build: Build, { _at, before, auditBefore }: ExpiryRow): Promise<void> {
  let ids: string[] = [];
  let records = 0;
  const deleteBatch = async () => {
    // Sections first: without their blocks they could not be found.
    const sectionIds = ids.flatMap((id) => KINDS.map((kind) => sectionsId(id, kind)));
    await build.write('sections', [{ deleteMany: { filter: { _id: { $in: sectionIds } } } }]);
    await build.write('blocks', [{ deleteMany: { filter: { _id: { $in: ids } } } }]);
    [ids, records] = [[], 0];
  };
  for (const [audit, cutoff] of [[false, before] as const, [true, auditBefore] as const]) {
    const expired = { audit, due: { $lt: dayName(cutoff) }, _at: { $lt: _at } };
    for await (const { _id, count } of build.collection<BlockRow>('blocks').find(expired).project({ count: 1 })) {
      ids.push(_id);
      records += count;
      if (records >= DELETE_BATCH) await deleteBatch();
    }
  }
  if (ids.length > 0) await deleteBatch();
}
