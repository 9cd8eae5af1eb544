/** Registers: what many full blocks of an owner and a day say of themselves, and their terms side by side, in one row. */
import { type Binary, type Collection, type Filter, Long } from 'mongodb';
import type { Vault } from '../../../application/ports/index.js';
import type { BlockHeader } from './block-ref.js';
import { sealed } from './compress-and-seal.js';
import type { SectionsRow } from './rows.js';

/**
 * It stands among the sections of its part: first of one block, then of many in its place. What is in none still
 * gathers. All that is ever changed is what it says of blocks whose records go one by one.
 */
export interface RegisterRow {
  /** Of its subject and its first block. */
  readonly _id: string;
  /** The latest of its blocks. */
  readonly _at: Long;
  readonly received: string;
  /** Whose key seals it, and all of its blocks. */
  readonly subject: string;
  /** Unix ms of the first and last record in its blocks. */
  readonly from: number;
  readonly to: number;
  /** `Listed[]` as JSON: no more than the rows of the blocks say in clear. */
  readonly blocks: string;
  /** Of one block alone; of many each is a `TermsRow`, so that only what is asked for is read. */
  readonly sections?: SealedTerms;
}

/** By the name of a section of terms: that section of every block, in order, sealed; see `filtersIn`. */
export interface SealedTerms {
  readonly [name: string]: Binary;
}

/** One section of the terms of a register of many blocks. */
export interface TermsRow extends Pick<RegisterRow, '_at' | 'received' | 'subject'> {
  /** Of `termsId`. */
  readonly _id: string;
  readonly sections: SealedTerms;
}

export interface SealedRegister {
  /** They are there before `row` is. */
  readonly terms: readonly TermsRow[];
  readonly row: RegisterRow;
}

/** A header whose position is a text, and whose subject is the register's. */
export type Listed = Omit<BlockHeader, '_at' | 'subject'> & { readonly _at: string };

/** No block's id begins so. Those of many sort behind all others: who reads them in order misses none that is made meanwhile. */
const PREFIX = { one: 'register/', many: 'registers/' };
/** Behind every other sign. */
const LAST = '\uffff';

type Which = keyof typeof PREFIX;

/** Finds all registers where sections stand. */
export const REGISTERS: Filter<{ _id: string }> = { _id: { $gte: PREFIX.one, $lt: PREFIX.many + LAST } };

/** Neither a register's nor a block's id begins so. */
export const termsId = (register: string, section: string): string => `terms/${section}/${register}`;

/** Finds those of a subject. */
export const registersOf = (subject: string, which: Which): Filter<{ _id: string }> => {
  const prefix = `${PREFIX[which]}${subject}/`;
  return { _id: { $gte: prefix, $lt: prefix + LAST } };
};

/** The sections and the registers of a part are in one collection. */
export const registersIn = (sections: Collection<SectionsRow>): Collection<RegisterRow> =>
  sections as unknown as Collection<RegisterRow>;

/** A block with its filters, by the names of their sections. */
export interface Entered {
  readonly header: BlockHeader;
  readonly filters: ReadonlyMap<string, Uint8Array>;
}

/** Of blocks of one subject, in order of their ids, at least one. Undefined when its key is destroyed. */
export async function sealRegister(
  vault: Vault,
  which: Which,
  received: string,
  entered: readonly Entered[],
): Promise<SealedRegister | undefined> {
  const headers = entered.map(({ header }) => header) as [BlockHeader, ...BlockHeader[]];
  const [{ _id: first, subject, _at }] = headers;
  const sections: Record<string, Binary> = {};
  for (const name of entered[0]!.filters.keys()) {
    const one = await sealed(vault, subject, together(entered.map(({ filters }) => filters.get(name)!)));
    if (!one) return undefined;
    sections[name] = one;
  }
  const listed = headers.map(({ subject: _, _at, ...rest }): Listed => ({ ...rest, _at: String(_at) }));
  const at = headers.reduce((last, each) => (each._at.greaterThan(last) ? each._at : last), _at);
  // Two of many have never one id: what is redelivered may be a part of what is in one already.
  const whose = which === 'one' ? first : `${first}/${headers.at(-1)!._id}/${headers.length}/${at}`;
  const own = { _id: `${PREFIX[which]}${subject}/${whose}`, _at: at, received, subject };
  const row = {
    ...own,
    from: Math.min(...headers.map(({ from }) => from)),
    to: Math.max(...headers.map(({ to }) => to)),
    blocks: JSON.stringify(listed),
  };
  if (which === 'one') return { row: { ...row, sections }, terms: [] };
  const terms = Object.entries(sections).map(([name, section]) => ({
    ...own,
    _id: termsId(own._id, name),
    sections: { [name]: section },
  }));
  return { row, terms };
}

/** The same of blocks of which some are shorter now, and some have gone: these stay, of no records. Undefined when all have. */
export function relisted(register: RegisterRow, left: ReadonlyMap<string, BlockHeader>): RegisterRow | undefined {
  const listed = (JSON.parse(register.blocks) as readonly Listed[]).map((each): Listed => {
    const { over, from = 0 } = left.get(each._id) ?? {};
    if (!left.has(each._id)) return { ...each, count: 0 };
    return { ...each, from, ...(over && { over }) };
  });
  const from = Math.min(...Array.from(left.values(), (each) => each.from));
  return left.size > 0 ? { ...register, from, blocks: JSON.stringify(listed) } : undefined;
}

/** The filters of its blocks, by the names of their sections. Undefined when its key is destroyed. */
export async function openFilters(
  vault: Vault,
  subject: string,
  sections: SealedTerms,
): Promise<ReadonlyMap<string, readonly Uint8Array[]> | undefined> {
  const opened = new Map<string, readonly Uint8Array[]>();
  for (const [name, section] of Object.entries(sections)) {
    const bytes = await vault.openBytes(subject, section.buffer);
    if (!bytes) return undefined;
    opened.set(name, filtersIn(bytes));
  }
  return opened;
}

/** The headers of its blocks that pass, in the order of its filters. */
export function headersIn(
  { blocks, subject }: Pick<RegisterRow, 'blocks' | 'subject'>,
  passes: (listed: Listed, nth: number) => boolean = () => true,
): readonly BlockHeader[] {
  const listed = (JSON.parse(blocks) as readonly Listed[]).filter(passes);
  return listed.map((each) => ({ ...each, subject, _at: Long.fromString(each._at) }));
}

/** Of how many bytes each filter is, in front of it. */
const LENGTH_BYTES = 4;

function together(filters: readonly Uint8Array[]): Uint8Array {
  const lengths = filters.map(({ length }) => {
    const bytes = Buffer.alloc(LENGTH_BYTES);
    bytes.writeUInt32LE(length);
    return bytes;
  });
  return Buffer.concat(filters.flatMap((filter, nth) => [lengths[nth]!, filter]));
}

/** The filters of all blocks of a register, from one of its opened sections. */
function filtersIn(section: Uint8Array): readonly Uint8Array[] {
  const view = new DataView(section.buffer, section.byteOffset, section.length);
  const filters: Uint8Array[] = [];
  for (let at = 0; at < section.length; ) {
    const from = at + LENGTH_BYTES;
    at = from + view.getUint32(at, true);
    filters.push(section.subarray(from, at));
  }
  return filters;
}
