/** Filter groups: headers and Bloom filters of full blocks of one producer-day, many of them in one row. */
import { type Binary, type Collection, type Filter, Long } from 'mongodb';
import type { Vault } from '../../../application/ports/index.js';
import { sealBytes } from './compress-and-seal.js';
import type { BlockHeader, SectionsRow } from './rows.js';

/**
 * Stored in the sections collection of a partition: first one group per block, later compacted to many blocks. Blocks
 * in no group are still open. Changes only when records of its blocks expire one by one.
 */
export interface FilterGroupRow {
  readonly _id: string;
  readonly _at: Long;
  readonly received: string;
  readonly subject: string;
  /** Unix ms of the earliest and latest record in its blocks. */
  readonly from: number;
  readonly to: number;
  /** JSON of `ListedBlock[]`: only what block rows hold unencrypted, too. */
  readonly blocks: string;
  /** Filters of a single-block group; larger groups have a `TermsRow` per section, so queries read only some. */
  readonly sections?: SealedTerms;
}

/** Encrypted filters of all blocks, by term section; see `splitFilters`. */
export interface SealedTerms {
  readonly [name: string]: Binary;
}

/** One term section of a group of many blocks. */
export interface TermsRow extends Pick<FilterGroupRow, '_at' | 'received' | 'subject'> {
  readonly _id: string;
  readonly sections: SealedTerms;
}

export interface SealedFilterGroup {
  /** Must be written before `row`. */
  readonly terms: readonly TermsRow[];
  readonly row: FilterGroupRow;
}

/** A block header in JSON: `_at` as text, and without the group's subject. */
export type ListedBlock = Omit<BlockHeader, '_at' | 'subject'> & { readonly _at: string };

/** Prefixes of ids; block ids never start with them. Compacted groups sort last, so a scan in id order misses none. */
const PREFIX = { one: 'register/', many: 'registers/' };
const MAX_CHARACTER = '\uffff';

type GroupSize = keyof typeof PREFIX;

export const FILTER_GROUPS: Filter<{ _id: string }> = { _id: { $gte: PREFIX.one, $lt: PREFIX.many + MAX_CHARACTER } };

/** Id of a term row; shares no prefix with blocks and groups. */
export const termsId = (filterGroup: string, section: string): string => `terms/${section}/${filterGroup}`;

export const filterGroupsOf = (subject: string, size: GroupSize): Filter<{ _id: string }> => {
  const prefix = `${PREFIX[size]}${subject}/`;
  return { _id: { $gte: prefix, $lt: prefix + MAX_CHARACTER } };
};

export const filterGroupsIn = (sections: Collection<SectionsRow>): Collection<FilterGroupRow> =>
  sections as unknown as Collection<FilterGroupRow>;

export interface BlockFilters {
  readonly header: BlockHeader;
  readonly filters: ReadonlyMap<string, Uint8Array>;
}

/** Encrypts at least one block of one subject, in order of ids. Undefined when the key is destroyed. */
export async function sealFilterGroup(
  vault: Vault,
  size: GroupSize,
  received: string,
  blocks: readonly BlockFilters[],
): Promise<SealedFilterGroup | undefined> {
  const headers = blocks.map(({ header }) => header) as [BlockHeader, ...BlockHeader[]];
  const [{ _id: first, subject, _at }] = headers;
  const sections: Record<string, Binary> = {};
  for (const name of blocks[0]!.filters.keys()) {
    const section = await sealBytes(vault, subject, joinFilters(blocks.map(({ filters }) => filters.get(name)!)));
    if (!section) return undefined;
    sections[name] = section;
  }
  const listed = headers.map(({ subject: _, _at, ...rest }): ListedBlock => ({ ...rest, _at: String(_at) }));
  const at = headers.reduce((last, each) => (each._at.greaterThan(last) ? each._at : last), _at);
  // Unique per content: after a redelivery, a group may repeat some blocks of an existing one.
  const idSuffix = size === 'one' ? first : `${first}/${headers.at(-1)!._id}/${headers.length}/${at}`;
  const common = { _id: `${PREFIX[size]}${subject}/${idSuffix}`, _at: at, received, subject };
  const row = {
    ...common,
    from: Math.min(...headers.map(({ from }) => from)),
    to: Math.max(...headers.map(({ to }) => to)),
    blocks: JSON.stringify(listed),
  };
  if (size === 'one') return { row: { ...row, sections }, terms: [] };
  const terms = Object.entries(sections).map(([name, section]) => ({
    ...common,
    _id: termsId(common._id, name),
    sections: { [name]: section },
  }));
  return { row, terms };
}

/** Updates headers after expiry; deleted blocks stay listed with count 0. Undefined when all are deleted. */
export function updateFilterGroup(
  filterGroup: FilterGroupRow,
  remaining: ReadonlyMap<string, BlockHeader>,
): FilterGroupRow | undefined {
  const listed = (JSON.parse(filterGroup.blocks) as readonly ListedBlock[]).map((each): ListedBlock => {
    const { over, from = 0 } = remaining.get(each._id) ?? {};
    if (!remaining.has(each._id)) return { ...each, count: 0 };
    return { ...each, from, ...(over && { over }) };
  });
  const from = Math.min(...Array.from(remaining.values(), (each) => each.from));
  return remaining.size > 0 ? { ...filterGroup, from, blocks: JSON.stringify(listed) } : undefined;
}

/** Filters of the blocks by term section. Undefined when the key is destroyed. */
export async function decryptFilters(
  vault: Vault,
  subject: string,
  sections: SealedTerms,
): Promise<ReadonlyMap<string, readonly Uint8Array[]> | undefined> {
  const filters = new Map<string, readonly Uint8Array[]>();
  for (const [name, section] of Object.entries(sections)) {
    const bytes = await vault.openBytes(subject, section.buffer);
    if (!bytes) return undefined;
    filters.set(name, splitFilters(bytes));
  }
  return filters;
}

export function headersIn(
  { blocks, subject }: Pick<FilterGroupRow, 'blocks' | 'subject'>,
  passes: (listed: ListedBlock, nth: number) => boolean = () => true,
): readonly BlockHeader[] {
  const listed = (JSON.parse(blocks) as readonly ListedBlock[]).filter(passes);
  return listed.map((each) => ({ ...each, subject, _at: Long.fromString(each._at) }));
}

const LENGTH_BYTES = 4;

function joinFilters(filters: readonly Uint8Array[]): Uint8Array {
  const lengths = filters.map(({ length }) => {
    const bytes = Buffer.alloc(LENGTH_BYTES);
    bytes.writeUInt32LE(length);
    return bytes;
  });
  return Buffer.concat(filters.flatMap((filter, nth) => [lengths[nth]!, filter]));
}

function splitFilters(section: Uint8Array): readonly Uint8Array[] {
  const view = new DataView(section.buffer, section.byteOffset, section.length);
  const filters: Uint8Array[] = [];
  for (let at = 0; at < section.length; ) {
    const from = at + LENGTH_BYTES;
    at = from + view.getUint32(at, true);
    filters.push(section.subarray(from, at));
  }
  return filters;
}
