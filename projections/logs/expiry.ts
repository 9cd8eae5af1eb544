/** Takes out of a build of the record index what is no longer kept: by instant, and by receipt. */
import type { Position, RecordedEvent, Vault } from '../../application/ports.js';
import type { LogsEvent } from '../../domain/logs/catalog.js';
import { dayName } from '../../domain/logs/instant.js';
import { type Build, longOf, type RowWrite } from '../projection.js';
import { later } from './gathering.js';
import { sealBlock, sectionsId } from './packing.js';
import { HOURS, KEEPINGS, type Part, readPart, sectionsIn } from './parts.js';
import type { BlockRow, SectionsRow } from './rows.js';
import { openTexts } from './sealing.js';
import { KINDS } from './sections.js';

/** Blocks that are looked at by one call: those of scattered records are read whole for it, up to a megabyte each. */
const LOOKED_AT_ONCE = 50;
/** Records whose blocks a store deletes by one call, all but the last: each may be in the index of correlations, and
 * while a store is at it, it does nothing else. */
const DELETED_AT_ONCE = 4000;

/**
 * Days that are over go as whole collections; what a later day holds of a receipt that is over goes row by row, and
 * of blocks whose records are of many days, record by record. All of it goes piece by piece.
 */
export async function expire(
  build: Build,
  { data: expired, position }: RecordedEvent<LogsEvent<'RecordsExpired'>>,
): Promise<void> {
  const untouched = { _at: { $lt: longOf(position) } };
  for (const name of await build.parts()) {
    const part = readPart(name);
    if (!part) continue;
    const before = part.audit ? expired.auditBefore : expired.before;
    if (part.to < before) {
      await build.drop(sectionsIn(name));
      await build.drop(name);
    } else await expireBlocks(build, part, before, position);
  }
  for (const audit of [false, true]) {
    const before = audit ? expired.auditBefore : expired.before;
    const received = { audit, received: { $lt: dayName(before) }, ...untouched };
    const hours = { audit, hour: { $lt: before }, ...untouched };
    await build.write(HOURS, [{ deletePieces: { filter: hours } }, { deletePieces: { filter: received } }]);
    await build.write(KEEPINGS, [{ deletePieces: { filter: received } }]);
  }
}

/** Blocks of a receipt that is over, and of scattered ones all or a part of what is of days that are over. */
async function expireBlocks(build: Build, part: Part, before: number, position: Position): Promise<void> {
  const blocks = build.collection<BlockRow>(part.name);
  const sections = build.collection<SectionsRow>(sectionsIn(part.name));
  const at = longOf(position);
  const received = dayName(before);
  let over: string[] = [];
  let records = 0;
  const remove = async () => {
    const all = over;
    [over, records] = [[], 0];
    if (all.length === 0) return;
    // What they are made of goes first: nobody would find it after them.
    const made = all.flatMap((id) => KINDS.map((kind) => sectionsId(id, kind)));
    await sections.deleteMany({ _id: { $in: made } });
    await blocks.deleteMany({ _id: { $in: all } });
  };
  const projection = { _at: 1, received: 1, from: 1, to: 1, count: 1 };
  for await (const { _id, _at, ...row } of blocks.find({}, { projection, batchSize: LOOKED_AT_ONCE })) {
    if (!_at.lessThan(at)) continue;
    if (row.received < received || row.to < before) {
      over.push(_id);
      records += row.count;
      if (records >= DELETED_AT_ONCE) await remove();
    } else if (row.from < before) {
      const whole = await blocks.findOne({ _id });
      if (whole) await build.write(part.name, [await shortening(build.vault, whole, before)]);
    }
  }
  await remove();
}

/** Without the key the row goes. */
async function shortening(vault: Vault, row: BlockRow, before: number): Promise<RowWrite> {
  const filter = { _id: row._id, _at: row._at };
  const texts = await openTexts(vault, row);
  const rest = texts.length > 0 ? await sealBlock(vault, await later(row, texts, before)) : undefined;
  return rest ? { replaceOne: { filter, replacement: { ...rest.row } } } : { deleteOne: { filter } };
}
