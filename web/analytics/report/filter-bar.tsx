/** The filters of the report, each with a button that removes it, and what they leave out. */
import { X } from 'lucide-preact';
import { Button } from '../../shared/components/button.js';
import { Icon } from '../../shared/components/icon.js';
import type { Report } from '../contract.js';
import { filters } from '../state/selection.js';
import { filterTexts, listNames } from '../texts.js';
import { filterEntries, removeFilter, removeFilters } from './filters.js';
import { labelOfFilter } from './lists-of.js';

/** `report`: undefined until it is loaded. */
export function FilterBar({ report }: { report: Report | undefined }) {
  const entries = filterEntries(filters.value);
  if (entries.length === 0) return null;
  return (
    <section id="filters" aria-label={filterTexts.title}>
      {entries.map(([list, value]) => {
        const label = labelOfFilter(list, value);
        return (
          <button
            key={list}
            type="button"
            class="filter"
            aria-label={filterTexts.remove(listNames[list].title, label)}
            onClick={() => removeFilter(list)}
          >
            <span class="quiet">{listNames[list].title}</span>
            <bdi>{label}</bdi>
            <Icon of={X} />
          </button>
        );
      })}
      {entries.length > 1 && (
        <Button variant="ghost" small onClick={removeFilters}>
          {filterTexts.removeAll}
        </Button>
      )}
      {(report?.unlisted ?? 0) > 0 && <p class="quiet">{filterTexts.unlisted(report?.unlisted ?? 0)}</p>}
    </section>
  );
}
