/** The full blocks of a part that may hold what is asked for, as its registers tell, many by one row. */
import type { Collection } from 'mongodb';
import { yieldOnly } from '../../../application/logs/query/query-budget.js';
import type { Vault } from '../../../application/ports/index.js';
import type { Filter } from '../../../domain/logs/filter.js';
import { termsOfFilter } from '../../../domain/logs/index-terms.js';
import type { BlockHeader } from './block-ref.js';
import { mayHold } from './bloom-filter.js';
import {
  headersIn,
  type Listed,
  openFilters,
  REGISTERS,
  type RegisterRow,
  type SealedTerms,
  termsId,
} from './filter-group.js';
import type { Partition } from './partitions.js';
import { termSection } from './sections.js';

/** That there is one, and of what time. */
export type RegisterHead = Pick<RegisterRow, '_id' | 'from' | 'to'>;

/** Of all registers with blocks of the time that is asked for. */
export function registerHeads(
  rows: Collection<RegisterRow>,
  part: Partition,
  { from = 0, to = Number.POSITIVE_INFINITY }: Filter,
): Promise<RegisterHead[]> {
  const within = {
    ...(from > part.from && { to: { $gte: from } }),
    ...(to < part.to && { from: { $lte: to } }),
  };
  return rows
    .find({ ...REGISTERS, ...within }, { projection: { from: 1, to: 1 } })
    .sort({ _id: 1 })
    .toArray();
}

export interface RegisteredBlocks {
  /** In no order, some perhaps twice: registers of one block become one of many meanwhile. */
  readonly headers: readonly BlockHeader[];
  /** Whether all registers that were asked for are there. */
  readonly isWhole: boolean;
}

/** Of registers by their ids: few at a time, since each says much. */
export async function registeredBlocks(
  rows: Collection<RegisterRow>,
  vault: Vault,
  ids: readonly string[],
  filter: Filter,
): Promise<RegisteredBlocks> {
  const { from = 0, to = Number.POSITIVE_INFINITY, producerId } = filter;
  const terms = termsOfFilter(filter);
  const names = [...new Set(terms.map(termSection))];
  const projection = {
    subject: 1,
    blocks: 1,
    ...Object.fromEntries(names.map((name) => [`sections.${name}`, 1])),
  };
  const registers = await rows.find({ _id: { $in: [...ids] } }, { projection }).toArray();
  const many = registers.filter(({ sections }) => !sections).map(({ _id }) => _id);
  const termIds = many.flatMap((id) => names.map((each) => termsId(id, each)));
  const apart = termIds.length > 0 ? await rows.find({ _id: { $in: termIds } }).toArray() : [];
  const apartById = new Map(apart.map(({ _id, sections }) => [_id, sections]));
  const headers: BlockHeader[] = [];
  for (const register of registers) {
    const turn = yieldOnly();
    if (turn) await turn;
    const { _id, subject, sections } = register;
    const sealed: SealedTerms =
      sections ?? Object.assign({}, ...names.map((each) => apartById.get(termsId(_id, each))));
    // Where they have gone, or can't be opened, the blocks themselves tell, or that their key is destroyed.
    const isThere = names.length > 0 && names.every((each) => each in sealed);
    const filters = isThere ? await openFilters(vault, subject, sealed) : undefined;
    const passes = (each: Listed, nth: number) =>
      each.count > 0 &&
      each.to >= from &&
      each.from <= to &&
      (producerId ?? each.producerId) === each.producerId &&
      (!filters || terms.every((term) => mayHold(filters.get(termSection(term))![nth]!, term)));
    headers.push(...headersIn(register, passes));
  }
  return { headers, isWhole: registers.length === ids.length };
}
