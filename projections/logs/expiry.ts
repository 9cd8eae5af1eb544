/** Takes out of a build of the record index what is no longer kept: by instant, and by receipt. */
import type { Filter } from 'mongodb';
import type { RecordedEvent, Vault } from '../../application/ports.js';
import type { LogsEvent } from '../../domain/logs/catalog.js';
import { dayName } from '../../domain/logs/instant.js';
import { type Build, longOf, type RowWrite } from '../projection.js';
import { later } from './gathering.js';
import { sealBlock, sectionsId } from './packing.js';
import { HOURS, KEEPINGS, readPart, sectionsIn } from './parts.js';
import type { BlockRow, HourRow, KeepingRow, SectionsRow } from './rows.js';
import { openTexts } from './sealing.js';
import { KINDS } from './sections.js';

/**
 * Days that are over go as whole collections; what a later day holds of a receipt that is over goes row by row, and
 * of blocks whose records are of many days, record by record.
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
    } else {
      const blocks = build.collection<BlockRow>(name);
      const over = { received: { $lt: dayName(before) }, ...untouched };
      await dropSections(build, name, over);
      await blocks.deleteMany(over);
      if (!part.scattered) continue;
      await blocks.deleteMany({ to: { $lt: before }, ...untouched });
      for await (const row of blocks.find({ from: { $lt: before }, ...untouched }))
        await build.write(name, [await shortening(build.vault, row, before)]);
    }
  }
  const hours = build.collection<HourRow>(HOURS);
  const keepings = build.collection<KeepingRow>(KEEPINGS);
  for (const audit of [false, true]) {
    const before = audit ? expired.auditBefore : expired.before;
    await hours.deleteMany({ audit, hour: { $lt: before }, ...untouched });
    await hours.deleteMany({ audit, received: { $lt: dayName(before) }, ...untouched });
    await keepings.deleteMany({ audit, received: { $lt: dayName(before) }, ...untouched });
  }
}

/** What the blocks that go are made of goes first: nobody would find it after them. */
async function dropSections(build: Build, part: string, over: Filter<BlockRow>) {
  const rows = build.collection<BlockRow>(part).find(over, { projection: { _id: 1 } });
  const sections = build.collection<SectionsRow>(sectionsIn(part));
  for await (const { _id } of rows)
    await sections.deleteMany({ _id: { $in: KINDS.map((kind) => sectionsId(_id, kind)) } });
}

/** Without the key the row goes. */
async function shortening(vault: Vault, row: BlockRow, before: number): Promise<RowWrite> {
  const filter = { _id: row._id, _at: row._at };
  const texts = await openTexts(vault, row);
  const rest = texts.length > 0 ? await sealBlock(vault, await later(row, texts, before)) : undefined;
  return rest ? { replaceOne: { filter, replacement: { ...rest.row } } } : { deleteOne: { filter } };
}
