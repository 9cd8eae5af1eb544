/** Totals of a period compared with the previous one; the selected metric is shown in the chart. */
import { byId, element } from '../shared/dom.js';
import { METRICS, type Metric, type Report } from './contract.js';
import { NAMES, number, pluralize } from './formatting.js';

/** `choose` is called with the metric selected for the chart. */
export function createTotals(choose: (metric: Metric) => void) {
  const tiles = METRICS.map((metric) => {
    const [value, change] = [element('strong'), element('span', { className: 'change' })];
    const tile = element('button', { type: 'button', className: 'card tile' }, NAMES[metric], value, change);
    tile.onclick = () => choose(metric);
    return { metric, tile, value, change };
  });
  byId('totals').replaceChildren(...tiles.map(({ tile }) => tile));

  return ({ totals, comparison: { previous, delta }, range }: Report, selected: Metric) => {
    for (const { metric, tile, value, change } of tiles) {
      tile.setAttribute('aria-pressed', String(metric === selected));
      value.textContent = number(totals[metric]);
      const percent = delta[metric];
      const isNew = percent === null && previous.complete;
      change.classList.toggle('up', isNew || (percent !== null && percent > 0));
      change.classList.toggle('down', percent !== null && percent < 0);
      const period = `in the previous ${range.days === 1 ? 'day' : pluralize(range.days, 'day')}`;
      const previousCount = number(previous[metric]);
      if (!previous.complete) change.textContent = `${previousCount} ${period} (incomplete)`;
      else if (totals[metric] === 0 && previous[metric] === 0) change.textContent = `none ${period} either`;
      else change.textContent = `${describeChange(percent)} ${previousCount} ${period}`;
    }
    byId('uniques-note').hidden = range.days === 1;
  };
}

function describeChange(percent: number | null): string {
  if (percent === null) return '▲ new, from';
  if (percent === 0) return '= the same as';
  return `${percent > 0 ? '▲' : '▼'} ${number(Math.abs(percent))} %, from`;
}
