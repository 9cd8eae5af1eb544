/** Finds full blocks that may hold matches, using the filter groups of a partition. */
import type { Collection } from 'mongodb';
import { yieldOnly } from '../../../application/logs/query/query-budget.js';
import type { Vault } from '../../../application/ports/index.js';
import type { Filter } from '../../../domain/logs/filter.js';
import { termsOfFilter } from '../../../domain/logs/index-terms.js';
import { mayHold } from './bloom-filter.js';
import {
  decryptFilters,
  FILTER_GROUPS,
  type FilterGroupRow,
  headersIn,
  type ListedBlock,
  type SealedTerms,
  termsId,
} from './filter-group.js';
import type { Partition } from './partitions.js';
import type { BlockHeader } from './rows.js';
import { termSection } from './sections.js';

export type FilterGroupRange = Pick<FilterGroupRow, '_id' | 'from' | 'to'>;

export function findFilterGroups(
  rows: Collection<FilterGroupRow>,
  part: Partition,
  { from = 0, to = Number.POSITIVE_INFINITY }: Filter,
): Promise<FilterGroupRange[]> {
  const timeRange = {
    ...(from > part.from && { to: { $gte: from } }),
    ...(to < part.to && { from: { $lte: to } }),
  };
  return rows
    .find({ ...FILTER_GROUPS, ...timeRange }, { projection: { from: 1, to: 1 } })
    .sort({ _id: 1 })
    .toArray();
}

export interface FilterGroupBlocks {
  /** Unordered and possibly duplicated, because groups may be compacted meanwhile. */
  readonly headers: readonly BlockHeader[];
  readonly isWhole: boolean;
}

/** Reads groups by id; pass few at a time, since they are large. */
export async function readFilterGroups(
  rows: Collection<FilterGroupRow>,
  vault: Vault,
  ids: readonly string[],
  filter: Filter,
): Promise<FilterGroupBlocks> {
  const { from = 0, to = Number.POSITIVE_INFINITY, producerId } = filter;
  const terms = termsOfFilter(filter);
  const names = [...new Set(terms.map(termSection))];
  const projection = {
    subject: 1,
    blocks: 1,
    ...Object.fromEntries(names.map((name) => [`sections.${name}`, 1])),
  };
  const filterGroups = await rows.find({ _id: { $in: [...ids] } }, { projection }).toArray();
  const many = filterGroups.filter(({ sections }) => !sections).map(({ _id }) => _id);
  const termIds = many.flatMap((id) => names.map((each) => termsId(id, each)));
  const termRows = termIds.length > 0 ? await rows.find({ _id: { $in: termIds } }).toArray() : [];
  const termsById = new Map(termRows.map(({ _id, sections }) => [_id, sections]));
  const headers: BlockHeader[] = [];
  for (const filterGroup of filterGroups) {
    const pause = yieldOnly();
    if (pause) await pause;
    const { _id, subject, sections } = filterGroup;
    const sealed: SealedTerms =
      sections ?? Object.assign({}, ...names.map((each) => termsById.get(termsId(_id, each))));
    // Without filters, because they are gone or undecryptable, the blocks themselves are read.
    const hasFilters = names.length > 0 && names.every((each) => each in sealed);
    const filters = hasFilters ? await decryptFilters(vault, subject, sealed) : undefined;
    const mayMatch = (each: ListedBlock, nth: number) =>
      each.count > 0 &&
      each.to >= from &&
      each.from <= to &&
      (producerId ?? each.producerId) === each.producerId &&
      (!filters || terms.every((term) => mayHold(filters.get(termSection(term))![nth]!, term)));
    headers.push(...headersIn(filterGroup, mayMatch));
  }
  return { headers, isWhole: filterGroups.length === ids.length };
}
