/** Removes expired records from a build of the index: by their own time and by receipt. */
import { Binary, type Filter, type Long } from 'mongodb';
import type { RecordedEvent, Vault } from '../../../application/ports/index.js';
import type { LogsEvent } from '../../../domain/logs/catalog.js';
import { dayName } from '../../../domain/logs/timestamp.js';
import { type Build, longOf } from '../../kernel/index.js';
import { decryptAndInflate, decryptPieces } from './compress-and-seal.js';
import { withoutExpired } from './open-block.js';
import { BUCKETS, HOURS, parsePartition, SCATTERED_PARTS, sectionsCollection } from './partitions.js';
import type { BlockRow, BucketRow, SectionsRow } from './rows.js';
import { sealBlock, sectionsId } from './seal-block.js';
import { INSTANTS_PIECE } from './section-codec.js';
import { INSTANTS, KINDS } from './sections.js';

/** Blocks per store call; scattered ones are read whole, up to a megabyte each. */
const READ_BATCH = 50;
/**
 * Records in the blocks deleted per store call: each may have an entry in the correlation index, and the store
 * blocks other work during the call.
 */
const DELETE_BATCH = 4000;

/**
 * Drops collections of expired days. In later days it deletes rows with an expired receipt, and in scattered blocks
 * single records. Works in small steps, each using an index.
 */
export async function expire(
  build: Build,
  { data: expired, position }: RecordedEvent<LogsEvent<'RecordsExpired'>>,
): Promise<void> {
  const remaining = new Set<string>();
  for (const name of await build.parts()) {
    const part = parsePartition(name);
    if (!part) continue;
    remaining.add(name);
    if (part.to >= (part.audit ? expired.auditBefore : expired.before)) continue;
    remaining.delete(name);
    await build.drop(sectionsCollection(name));
    await build.drop(name);
  }
  const at = longOf(position);
  const untouched = { _at: { $lt: at } };
  for (const audit of [false, true]) {
    const before = audit ? expired.auditBefore : expired.before;
    const received = { audit, received: { $lt: dayName(before) } };
    for await (const { _id: subject, parts } of build.collection<BucketRow>(BUCKETS).find(received))
      for (const part of parts ?? []) if (remaining.has(part)) await deleteBlocks(build, part, { subject }, at);
    for (const part of SCATTERED_PARTS)
      if (remaining.has(part) && parsePartition(part)?.audit === audit) {
        await deleteBlocks(build, part, { to: { $lt: before } }, at);
        await trimBlocks(build, part, before, at);
      }
    const hours = { audit, hour: { $lt: before }, ...untouched };
    const expiredRows = { ...received, ...untouched };
    await build.write(HOURS, [{ deletePieces: { filter: hours } }, { deletePieces: { filter: expiredRows } }]);
    await build.write(BUCKETS, [{ deletePieces: { filter: expiredRows } }]);
  }
}

async function deleteBlocks(build: Build, part: string, criteria: Filter<BlockRow>, at: Long): Promise<void> {
  const blocks = build.collection<BlockRow>(part);
  const sections = build.collection<SectionsRow>(sectionsCollection(part));
  let expiredIds: string[] = [];
  let records = 0;
  const deleteBatch = async () => {
    // Sections first: without their blocks they could not be found.
    const sectionIds = expiredIds.flatMap((id) => KINDS.map((kind) => sectionsId(id, kind)));
    await sections.deleteMany({ _id: { $in: sectionIds } });
    await blocks.deleteMany({ _id: { $in: expiredIds } });
    [expiredIds, records] = [[], 0];
  };
  const options = { projection: { _at: 1, count: 1 }, batchSize: READ_BATCH };
  for await (const { _id, _at, count } of blocks.find(criteria, options)) {
    if (!_at.lessThan(at)) continue;
    expiredIds.push(_id);
    records += count;
    if (records >= DELETE_BATCH) await deleteBatch();
  }
  if (expiredIds.length > 0) await deleteBatch();
}

async function trimBlocks(build: Build, part: string, before: number, at: Long): Promise<void> {
  const expiring = { from: { $lt: before } };
  const options = { batchSize: READ_BATCH };
  const blocks = build.collection<BlockRow>(part);
  for await (const row of blocks.find(expiring, options)) {
    if (!row._at.lessThan(at)) continue;
    const filter = { _id: row._id, _at: row._at };
    const trimmed = await (row.gathering
      ? trimOpenBlock(build.vault, row, before)
      : hideExpired(build, part, row, before));
    if (trimmed) await build.write(part, [{ replaceOne: { filter, replacement: { ...trimmed } } }]);
    else await deleteBlocks(build, part, filter, at);
  }
}

/** Rewrites an open block; undefined when its key is destroyed. */
async function trimOpenBlock(vault: Vault, row: BlockRow, before: number): Promise<BlockRow | undefined> {
  const texts = await decryptPieces(vault, row);
  return texts.length > 0 ? (await sealBlock(vault, await withoutExpired(row, texts, before)))?.row : undefined;
}

/** Hides records of a full block, which is immutable; it is deleted as a whole when its receipt expires. */
async function hideExpired(build: Build, part: string, row: BlockRow, before: number): Promise<BlockRow | undefined> {
  const id = sectionsId(row._id, 'columns');
  const projection = { [`sections.${INSTANTS}`]: 1 };
  const columnsRow = await build.collection<SectionsRow>(sectionsCollection(part)).findOne({ _id: id }, { projection });
  const sealed = columnsRow?.sections[INSTANTS];
  const bytes = sealed instanceof Binary ? await decryptAndInflate(build.vault, row.subject, sealed) : undefined;
  if (!bytes) return undefined;
  const remaining = INSTANTS_PIECE.read(new Map([[INSTANTS, bytes]])).filter((instant) => instant >= before);
  const from = remaining.reduce((earliest, instant) => Math.min(earliest, instant), row.to);
  return { ...row, from, over: { before, count: row.count - remaining.length } };
}
