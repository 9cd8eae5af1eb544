/** Takes out of a build of the record index what is no longer kept: by instant, and by receipt. */
import { Binary, type Collection, type Filter, type Long } from 'mongodb';
import type { RecordedEvent, Vault } from '../../../application/ports/index.js';
import type { LogsEvent } from '../../../domain/logs/catalog.js';
import { dayName } from '../../../domain/logs/timestamp.js';
import { type Build, longOf } from '../../kernel/index.js';
import type { BlockHeader } from './block-ref.js';
import { openPacked, openTexts } from './compress-and-seal.js';
import { headersIn, REGISTERS, type RegisterRow, registersIn, registersOf, relisted, termsId } from './filter-group.js';
import { later } from './open-block.js';
import { HOURS, KEEPINGS, readPart, SCATTERED_PARTS, sectionsIn } from './partitions.js';
import type { BlockRow, KeepingRow, SectionsRow } from './rows.js';
import { sealBlock, sectionsId } from './seal-block.js';
import { INSTANTS_PIECE } from './section-codec.js';
import { INSTANTS, KINDS, TERM_SECTION_NAMES } from './sections.js';

/** Blocks that are looked at by one call: those of scattered records are read whole for it, up to a megabyte each. */
const LOOKED_AT_ONCE = 50;
/** Records whose blocks a store deletes by one call, all but the last: each may be in the index of correlations, and
 * while a store is at it, it does nothing else. */
const DELETED_AT_ONCE = 4000;

/**
 * Days that are over go as whole collections; what a later day holds of a receipt that is over goes row by row, and
 * of blocks whose records are of many days, record by record. All of it goes piece by piece, and is found by an index.
 */
export async function expire(
  build: Build,
  { data: expired, position }: RecordedEvent<LogsEvent<'RecordsExpired'>>,
): Promise<void> {
  const left = new Set<string>();
  for (const name of await build.parts()) {
    const part = readPart(name);
    if (!part) continue;
    left.add(name);
    if (part.to >= (part.audit ? expired.auditBefore : expired.before)) continue;
    left.delete(name);
    await build.drop(sectionsIn(name));
    await build.drop(name);
  }
  const at = longOf(position);
  const untouched = { _at: { $lt: at } };
  for (const audit of [false, true]) {
    const before = audit ? expired.auditBefore : expired.before;
    const received = { audit, received: { $lt: dayName(before) } };
    for await (const { _id: subject, parts } of build.collection<KeepingRow>(KEEPINGS).find(received))
      for (const part of parts ?? [])
        if (left.has(part)) {
          await remove(build, part, { subject }, at);
          await removeRegisters(build, part, subject, untouched);
        }
    for (const part of SCATTERED_PARTS)
      if (left.has(part) && readPart(part)?.audit === audit) {
        await remove(build, part, { to: { $lt: before } }, at);
        await shorten(build, part, before, at);
      }
    const hours = { audit, hour: { $lt: before }, ...untouched };
    const over = { ...received, ...untouched };
    await build.write(HOURS, [{ deletePieces: { filter: hours } }, { deletePieces: { filter: over } }]);
    await build.write(KEEPINGS, [{ deletePieces: { filter: over } }]);
  }
}

/** Blocks that no later event has touched, with what they are made of. */
async function remove(build: Build, part: string, which: Filter<BlockRow>, at: Long): Promise<void> {
  const blocks = build.collection<BlockRow>(part);
  const sections = build.collection<SectionsRow>(sectionsIn(part));
  let over: string[] = [];
  let records = 0;
  const removeSome = async () => {
    // What they are made of goes first: nobody would find it after them.
    const made = over.flatMap((id) => KINDS.map((kind) => sectionsId(id, kind)));
    await sections.deleteMany({ _id: { $in: made } });
    await blocks.deleteMany({ _id: { $in: over } });
    [over, records] = [[], 0];
  };
  const looked = { projection: { _at: 1, count: 1 }, batchSize: LOOKED_AT_ONCE };
  for await (const { _id, _at, count } of blocks.find(which, looked)) {
    if (!_at.lessThan(at)) continue;
    over.push(_id);
    records += count;
    if (records >= DELETED_AT_ONCE) await removeSome();
  }
  if (over.length > 0) await removeSome();
}

/** The registers of a subject, and before them what would not be found after them. */
async function removeRegisters(build: Build, part: string, subject: string, untouched: object): Promise<void> {
  const rows = registersIn(build.collection(sectionsIn(part)));
  const many = { ...registersOf(subject, 'many'), ...untouched };
  for (const { _id } of await rows.find(many, { projection: { _id: 1 } }).toArray())
    await removeRegister(rows, { _id, ...untouched });
  await rows.deleteMany({ ...registersOf(subject, 'one'), ...untouched });
}

async function removeRegister(
  rows: Collection<RegisterRow>,
  register: Filter<RegisterRow> & { readonly _id: string },
): Promise<void> {
  await rows.deleteMany({ _id: { $in: TERM_SECTION_NAMES.map((name) => termsId(register._id, name)) } });
  await rows.deleteMany(register);
}

/** Blocks that have records of days that are over, and others. */
async function shorten(build: Build, part: string, before: number, at: Long): Promise<void> {
  const early = { from: { $lt: before } };
  const looked = { batchSize: LOOKED_AT_ONCE };
  const blocks = build.collection<BlockRow>(part);
  for await (const row of blocks.find(early, looked)) {
    if (!row._at.lessThan(at)) continue;
    const filter = { _id: row._id, _at: row._at };
    const rest = await (row.gathering ? shorter(build.vault, row, before) : hiding(build, part, row, before));
    if (rest) await build.write(part, [{ replaceOne: { filter, replacement: { ...rest } } }]);
    else await remove(build, part, filter, at);
  }
  const registers = registersIn(build.collection(sectionsIn(part)));
  for await (const register of registers.find({ ...REGISTERS, ...early }, looked)) {
    const listed = headersIn(register).map(({ _id }) => _id);
    const left = await blocks
      .find<BlockHeader>({ _id: { $in: listed } }, { projection: { from: 1, over: 1 } })
      .toArray();
    const rest = relisted(register, new Map(left.map((header) => [header._id, header])));
    const filter = { _id: register._id, _at: register._at };
    if (rest) await build.write(sectionsIn(part), [{ replaceOne: { filter, replacement: { ...rest } } }]);
    else await removeRegister(registers, filter);
  }
}

/** Undefined when its key is destroyed. */
async function shorter(vault: Vault, row: BlockRow, before: number): Promise<BlockRow | undefined> {
  const texts = await openTexts(vault, row);
  return texts.length > 0 ? (await sealBlock(vault, await later(row, texts, before)))?.row : undefined;
}

/** Of a full block, whose content is never changed: that goes as a whole, with its receipt at the latest, as from the log. */
async function hiding(build: Build, part: string, row: BlockRow, before: number): Promise<BlockRow | undefined> {
  const id = sectionsId(row._id, 'columns');
  const projection = { [`sections.${INSTANTS}`]: 1 };
  const made = await build.collection<SectionsRow>(sectionsIn(part)).findOne({ _id: id }, { projection });
  const sealed = made?.sections[INSTANTS];
  const bytes = sealed instanceof Binary ? await openPacked(build.vault, row.subject, sealed) : undefined;
  if (!bytes) return undefined;
  const left = INSTANTS_PIECE.read(new Map([[INSTANTS, bytes]])).filter((instant) => instant >= before);
  const from = left.reduce((least, instant) => Math.min(least, instant), row.to);
  return { ...row, from, over: { before, count: row.count - left.length } };
}
