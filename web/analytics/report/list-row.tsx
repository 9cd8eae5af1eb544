/** A row of a list: its name, which filters the report, its share and count, with a bar behind them. */
import { ChartLine } from 'lucide-preact';
import { IconButton } from '../../shared/components/button.js';
import { number, share } from '../formatting.js';
import { listTexts } from '../texts.js';
import { trend } from './chosen.js';
import { isFiltered, toggleFilter } from './filters.js';
import { type Item, isSameTrend } from './lists-of.js';

interface ListRowProps {
  readonly item: Item;
  /** Hits, or for goals visitors, that the share is of; 0 if it is not known. */
  readonly whole: number;
  readonly element: 'li' | 'div';
  readonly onFilter?: () => void;
}

export function ListRow({ item, whole, element: Element, onFilter }: ListRowProps) {
  const { count, bar } = item;
  return (
    <Element class="list-row" style={{ '--share': `${bar}%` }}>
      <RowName item={item} onFilter={onFilter} />
      <TrendButton item={item} />
      {whole > 0 && <span class="share quiet">{listTexts.share(share(count, whole))}</span>}
      <span class="count">{number(count)}</span>
    </Element>
  );
}

interface RowNameProps {
  readonly item: Item;
  readonly onFilter: (() => void) | undefined;
}

function RowName({ item: { label, filter }, onFilter }: RowNameProps) {
  const name = <bdi title={label}>{label || listTexts.noValue}</bdi>;
  if (!filter) return <span class="name">{name}</span>;
  const { list, value } = filter;
  function choose() {
    toggleFilter(list, value);
    onFilter?.();
  }
  return (
    <button
      type="button"
      class="name plain"
      aria-pressed={isFiltered(list, value)}
      title={listTexts.filterBy(label)}
      onClick={choose}
    >
      {name}
    </button>
  );
}

function TrendButton({ item: { label, trend: ofRow } }: { item: Item }) {
  if (!ofRow) return null;
  const isShown = isSameTrend(trend.value, ofRow);
  function toggle() {
    trend.value = isShown ? undefined : ofRow;
  }
  return <IconButton small icon={ChartLine} label={listTexts.inChart(label)} pressed={isShown} onClick={toggle} />;
}
