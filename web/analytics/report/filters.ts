/** Filters of the report: each list has at most one wanted value. */
import type { FilterName, Filters } from '../contract.js';
import { selectFilters } from '../state/dashboard.js';
import { filters } from '../state/selection.js';

export type FilterValue = string | readonly string[];

const isSame = (one: FilterValue | undefined, other: FilterValue): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

export const isFiltered = (list: FilterName, value: FilterValue): boolean => isSame(filters.value[list], value);

/** Filters by a value, or no longer. */
export function toggleFilter(list: FilterName, value: FilterValue): void {
  const { [list]: before, ...others } = filters.value;
  selectFilters(isSame(before, value) ? others : { ...others, [list]: value });
}

export function removeFilter(list: FilterName): void {
  const { [list]: _, ...others } = filters.value;
  selectFilters(others);
}

export const removeFilters = (): void => selectFilters({});

export const filterEntries = (all: Filters): readonly (readonly [FilterName, FilterValue])[] =>
  Object.entries(all) as [FilterName, FilterValue][];
