/** The three totals of a period, each beside the period before; the one that is chosen is in the chart. */
import { byId, element } from '../shared/dom.js';
import { METRICS, type Metric, type Report } from './contract.js';
import { NAMES, number, pluralize } from './formatting.js';

/** `choose` is told which of them the reader wants to see by days. */
export function createTotals(choose: (metric: Metric) => void) {
  const tiles = METRICS.map((metric) => {
    const [value, change] = [element('strong'), element('span', { className: 'change' })];
    const tile = element('button', { type: 'button', className: 'card tile' }, NAMES[metric], value, change);
    tile.onclick = () => choose(metric);
    return { metric, tile, value, change };
  });
  byId('totals').replaceChildren(...tiles.map(({ tile }) => tile));

  return ({ totals, comparison: { previous, delta }, range }: Report, chosen: Metric) => {
    for (const { metric, tile, value, change } of tiles) {
      tile.setAttribute('aria-pressed', String(metric === chosen));
      value.textContent = number(totals[metric]);
      const percent = delta[metric];
      const isNew = percent === null && previous.complete;
      change.classList.toggle('up', isNew || (percent !== null && percent > 0));
      change.classList.toggle('down', percent !== null && percent < 0);
      const before = `in the ${range.days === 1 ? 'day' : pluralize(range.days, 'day')} before`;
      const then = number(previous[metric]);
      if (!previous.complete)
        change.textContent = `${then} ${before}, which ${range.days === 1 ? 'is' : 'are'} not complete`;
      else if (totals[metric] === 0 && previous[metric] === 0) change.textContent = `none ${before} either`;
      else change.textContent = `${inWords(percent)} ${then} ${before}`;
    }
    byId('uniques-note').hidden = range.days === 1;
  };
}

function inWords(percent: number | null): string {
  if (percent === null) return '▲ new, from';
  if (percent === 0) return '= the same as';
  return `${percent > 0 ? '▲' : '▼'} ${number(Math.abs(percent))} %, from`;
}
