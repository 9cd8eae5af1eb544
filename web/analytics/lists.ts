/** The lists of a report, a card each; what has a line of its own can be put into the chart. */
import { byId, element, list, type Shown } from '../shared/dom.js';
import type { Report, Trend } from './contract.js';
import { csvOf, download } from './csv.js';
import { number } from './formatting.js';
import { isSameTrend, LISTS, type ListOf, trendOf } from './lists-of.js';

/** The remainder of a list, which is no value and has no bar. */
const OTHER = '(other)';

interface Item {
  readonly label: string;
  readonly count: number;
  /** Of the most frequent value. */
  readonly percent: number;
  readonly trend: Trend | undefined;
  readonly isChosen: boolean;
}

type Choose = (trend: Trend | undefined) => void;

/** `choose` is told which line the reader wants in the chart; undefined for none. */
export function createLists(choose: Choose) {
  const cards = LISTS.map((of) => ({ of, ...cardOf(of, choose) }));
  byId('lists').replaceChildren(...cards.map(({ card }) => card));

  return (report: Report, chosen: Trend | undefined, fileName: (what: string) => string) => {
    for (const { of, card, none, save, show } of cards) {
      const rows = of.rows(report);
      card.hidden = of.isRare === true && rows.length === 0;
      save.hidden = rows.length === 0;
      none.hidden = rows.length > 0;
      save.onclick = () => download(fileName(of.name), csvOf(of.heads, rows));
      const most = Math.max(1, ...rows.map((row) => (row[0] === OTHER ? 0 : Number(row.at(-1)))));
      const items = rows.map((row) => {
        const what = row.slice(0, -1);
        const [label, count] = [of.label(what), Number(row.at(-1))];
        const trend = trendOf(report, of.name, label);
        const percent = row[0] === OTHER ? 0 : (100 * count) / most;
        const item = { label, count, percent, trend, isChosen: isSameTrend(chosen, trend) };
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

/** It keeps its element while the report is counted anew: nobody's click or focus goes to another. */
function rowOf(choose: Choose): Shown<Item> {
  const [name, count] = [element('bdi'), element('span', { className: 'count' })];
  const button = element('button', { type: 'button', className: 'plain', title: 'Show in the chart' });
  const plain = element('span');
  const row = element('li', {}, count);
  return {
    element: row,
    update({ label, count: times, percent, trend, isChosen }) {
      const holder = trend ? button : plain;
      if (name.parentElement !== holder) {
        name.parentElement?.remove();
        holder.append(name);
        row.prepend(holder);
      }
      button.setAttribute('aria-pressed', String(isChosen));
      button.onclick = () => choose(isChosen ? undefined : trend);
      name.title = label;
      name.textContent = label || '(none)';
      count.textContent = number(times);
      row.style.setProperty('--share', `${percent}%`);
    },
  };
}
