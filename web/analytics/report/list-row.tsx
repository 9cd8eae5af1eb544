/** A row of a list: its name, which filters the report, its share and count, with a bar behind them. */
import { ChartLine } from 'lucide-preact';
import { IconButton } from '../../shared/components/button.js';
import type { ListName } from '../contract.js';
import { number, share } from '../formatting.js';
import { listTexts } from '../texts.js';
import { trend } from './chosen.js';
import { isFiltered, toggleFilter } from './filters.js';
import { type Item, isSameTrend } from './lists-of.js';

interface ListRowProps {
  readonly list: ListName;
  readonly item: Item;
  /** Hits that the share is of. */
  readonly whole: number;
  readonly element: 'li' | 'div';
  readonly onFilter?: () => void;
}

export function ListRow({ list, item, whole, element: Element, onFilter }: ListRowProps) {
  const { count, bar } = item;
  return (
    <Element class="list-row" style={{ '--share': `${bar}%` }}>
      <RowName list={list} item={item} onFilter={onFilter} />
      <TrendButton item={item} />
      <span class="share quiet">{listTexts.share(share(Math.min(count, whole), whole))}</span>
      <span class="count">{number(count)}</span>
    </Element>
  );
}

interface RowNameProps {
  readonly list: ListName;
  readonly item: Item;
  readonly onFilter: (() => void) | undefined;
}

function RowName({ list, item: { label, filter }, onFilter }: RowNameProps) {
  const name = <bdi title={label}>{label || listTexts.noValue}</bdi>;
  if (filter === undefined || list === 'properties') return <span class="name">{name}</span>;
  function choose() {
    if (filter === undefined || list === 'properties') return;
    toggleFilter(list, filter);
    onFilter?.();
  }
  return (
    <button
      type="button"
      class="name plain"
      aria-pressed={isFiltered(list, filter)}
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
