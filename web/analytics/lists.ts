/** Cards with the lists of a report; items with a trend can be shown in the chart. */

import { csvOf, download } from '../shared/csv.js';
import { byId, element, type ListEntry, list } from '../shared/dom.js';
import type { Report, Trend } from './contract.js';
import { number } from './formatting.js';
import { isSameTrend, LISTS, type ListOf, trendOf } from './lists-of.js';

/** Remainder of a list; has no bar. */
const OTHER = '(other)';

interface Item {
  readonly label: string;
  readonly count: number;
  /** Percent of the most frequent value. */
  readonly percent: number;
  readonly trend: Trend | undefined;
  readonly isSelected: boolean;
}

type Choose = (trend: Trend | undefined) => void;

/** `choose` is called with the trend selected for the chart; undefined for none. */
export function createLists(choose: Choose) {
  const cards = LISTS.map((of) => ({ of, ...cardOf(of, choose) }));
  byId('lists').replaceChildren(...cards.map(({ card }) => card));

  return (report: Report, selected: Trend | undefined, fileName: (what: string) => string) => {
    for (const { of, card, none, save, show } of cards) {
      const rows = of.rows(report);
      card.hidden = of.isRare === true && rows.length === 0;
      save.hidden = rows.length === 0;
      none.hidden = rows.length > 0;
      save.onclick = () => download(fileName(of.name), csvOf(of.headers, rows));
      const highest = Math.max(1, ...rows.map((row) => (row[0] === OTHER ? 0 : Number(row.at(-1)))));
      const items = rows.map((row) => {
        const what = row.slice(0, -1);
        const [label, count] = [of.label(what), Number(row.at(-1))];
        const trend = trendOf(report, of.name, label);
        const percent = row[0] === OTHER ? 0 : (100 * count) / highest;
        const item = { label, count, percent, trend, isSelected: isSameTrend(selected, trend) };
        return [JSON.stringify(what), item] as const;
      });
      show(new Map(items));
    }
  };
}

function cardOf({ name, title, counts }: ListOf, choose: Choose) {
  const head = `list-${name}`;
  const save = element('button', { type: 'button', className: 'small', 'aria-label': `${title} as CSV` }, 'CSV');
  const body = element('ol', { 'aria-labelledby': head });
  const none = element('p', { className: 'quiet' }, 'None in this period');
  const card = element(
    'section',
    { className: 'card', 'aria-labelledby': head },
    element(
      'header',
      {},
      element('h2', { id: head }, title),
      element('span', { className: 'quiet counts' }, counts),
      save,
    ),
    body,
    none,
  );
  return { card, none, save, show: list<Item>(body, () => rowOf(choose)) };
}

/** Keeps its element when the report is refreshed, so that focus and clicks stay on the item. */
function rowOf(choose: Choose): ListEntry<Item> {
  const [name, count] = [element('bdi'), element('span', { className: 'count' })];
  const button = element('button', { type: 'button', className: 'plain', title: 'Show in the chart' });
  const plain = element('span');
  const row = element('li', {}, count);
  return {
    element: row,
    update({ label, count: times, percent, trend, isSelected }) {
      const holder = trend ? button : plain;
      if (name.parentElement !== holder) {
        name.parentElement?.remove();
        holder.append(name);
        row.prepend(holder);
      }
      button.setAttribute('aria-pressed', String(isSelected));
      button.onclick = () => choose(isSelected ? undefined : trend);
      name.title = label;
      name.textContent = label || '(none)';
      count.textContent = number(times);
      row.style.setProperty('--share', `${percent}%`);
    },
  };
}
