/** The chart of a period by days; its values are told one by one to who goes through them by keyboard. */
// First: what it mends is asked as uPlot is loaded.
import './language.js';
import UPlot from 'uplot';
import { byId } from '../shared/dom.js';
import { optionsOf } from './chart-options.js';
import { instantOf } from './formatting.js';

export interface Line {
  readonly label: string;
  readonly values: readonly number[];
  /** A value in words. */
  format(value: number): string;
}

export interface ChartData {
  /** As `2026-11-22`, ascending. */
  readonly dates: readonly string[];
  readonly line: Line;
  /** Beside it. */
  readonly trend: Line | undefined;
  formatDay(date: string): string;
}

const HEIGHT = { wide: 260, narrow: 200 };
const NARROW = 480;

export function createChart() {
  const [place, readout] = [byId('chart'), byId('readout')];
  let shown: { readonly plot: UPlot; readonly data: ChartData } | undefined;
  let at: number | undefined;

  const sizeOf = () => {
    const width = place.clientWidth;
    return { width, height: width < NARROW ? HEIGHT.narrow : HEIGHT.wide };
  };
  new ResizeObserver(() => shown?.plot.setSize(sizeOf())).observe(place);
  // A canvas does not see that its colours have changed.
  matchMedia('(prefers-color-scheme: dark)').onchange = () => shown?.plot.redraw(false, true);

  function textOf({ dates, line, trend, formatDay }: ChartData, index: number): string {
    const values = [line, trend].flatMap((each) => (each ? [each.format(each.values[index] ?? 0)] : []));
    return `${formatDay(dates[index] ?? '')}: ${values.join(', ')}`;
  }

  /** Undefined: of no day. */
  function onCursor(index: number | undefined) {
    if (!shown) return;
    const { dates } = shown.data;
    at = index;
    const text = textOf(shown.data, index ?? dates.length - 1);
    readout.textContent = index === undefined ? `Most on ${textOf(shown.data, highest(shown.data))}` : text;
    place.setAttribute('aria-valuenow', String((index ?? dates.length - 1) + 1));
    place.setAttribute('aria-valuetext', text);
  }

  function go(index: number) {
    if (!shown) return;
    const { plot, data } = shown;
    const to = Math.min(Math.max(index, 0), data.dates.length - 1);
    const [left, top] = [plot.valToPos(plot.data[0][to] ?? 0, 'x'), plot.valToPos(plot.data[1]?.[to] ?? 0, 'y')];
    plot.setCursor({ left, top }, false);
    onCursor(to);
  }

  place.onkeydown = (event) => {
    const last = (shown?.data.dates.length ?? 0) - 1;
    const from = at ?? last;
    const steps: { readonly [key: string]: number } = {
      ArrowLeft: from - 1,
      ArrowDown: from - 1,
      ArrowRight: from + 1,
      ArrowUp: from + 1,
      PageDown: from - 7,
      PageUp: from + 7,
      Home: 0,
      End: last,
    };
    const to = steps[event.key];
    if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go(to);
  };
  place.onfocus = () => place.matches(':focus-visible') && go(at ?? Number.MAX_SAFE_INTEGER);
  place.onblur = () => {
    shown?.plot.setCursor({ left: -10, top: -10 }, false);
    onCursor(undefined);
  };

  return (data: ChartData) => {
    const { dates, line, trend } = data;
    shown?.plot.destroy();
    const rows: UPlot.AlignedData = [
      dates.map((date) => instantOf(date) / 1000),
      [...line.values],
      ...(trend ? [[...trend.values]] : []),
    ];
    const plot = new UPlot(
      optionsOf({ ...sizeOf(), days: dates.length, hasTrend: trend !== undefined, onCursor }),
      rows,
      place,
    );
    shown = { plot, data };
    place.setAttribute('aria-label', `${line.label} by days${trend ? `, beside ${trend.label}` : ''}`);
    place.setAttribute('aria-valuemin', '1');
    place.setAttribute('aria-valuemax', String(dates.length));
    // Whoever is at a day stays there when it is counted anew.
    if (at !== undefined && document.activeElement === place) go(at);
    else onCursor(undefined);
  };
}

const highest = ({ line: { values } }: ChartData) => values.indexOf(Math.max(...values));
