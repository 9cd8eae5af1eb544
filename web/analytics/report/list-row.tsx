/** A row of a list: its name, share and count, with a bar behind them. */
import { number, share } from '../formatting.js';
import { listTexts } from '../texts.js';
import { trend } from './chosen.js';
import { type Item, isSameTrend } from './lists-of.js';

interface ListRowProps {
  readonly item: Item;
  /** Hits that the share is of. */
  readonly whole: number;
  readonly element: 'li' | 'div';
}

export function ListRow({ item, whole, element: Element }: ListRowProps) {
  const { count, bar } = item;
  return (
    <Element class="list-row" style={{ '--share': `${bar}%` }}>
      <RowName item={item} />
      <span class="share quiet">{listTexts.share(share(Math.min(count, whole), whole))}</span>
      <span class="count">{number(count)}</span>
    </Element>
  );
}

function RowName({ item: { label, trend: ofRow } }: { item: Item }) {
  const name = <bdi title={label}>{label || listTexts.noValue}</bdi>;
  if (!ofRow) return <span class="name">{name}</span>;
  const isShown = isSameTrend(trend.value, ofRow);
  function toggle() {
    trend.value = isShown ? undefined : ofRow;
  }
  return (
    <button type="button" class="name plain" aria-pressed={isShown} title={listTexts.inChart(label)} onClick={toggle}>
      {name}
    </button>
  );
}
