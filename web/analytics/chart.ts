/** Chart of a period by days; accessible by keyboard as a slider. */
// Must be imported before uPlot, which reads the language when it is loaded.
import './language.js';
import UPlot from 'uplot';
import { byId } from '../shared/dom.js';
import { optionsOf } from './chart-options.js';
import { instantOf } from './formatting.js';

export interface Line {
  readonly label: string;
  readonly values: readonly number[];
  /** Formats a value with its unit. */
  format(value: number): string;
}

export interface ChartData {
  /** As `2026-11-22`, ascending. */
  readonly dates: readonly string[];
  readonly line: Line;
  /** Optional second line. */
  readonly trend: Line | undefined;
  formatDay(date: string): string;
}

const HEIGHT = { wide: 260, narrow: 200 };
const NARROW = 480;

export function createChart() {
  const [container, readout] = [byId('chart'), byId('readout')];
  let current: { readonly plot: UPlot; readonly data: ChartData } | undefined;
  let cursorIndex: number | undefined;

  const sizeOf = () => {
    const width = container.clientWidth;
    return { width, height: width < NARROW ? HEIGHT.narrow : HEIGHT.wide };
  };
  new ResizeObserver(() => current?.plot.setSize(sizeOf())).observe(container);
  // A canvas does not follow changes of CSS colours.
  matchMedia('(prefers-color-scheme: dark)').onchange = () => current?.plot.redraw(false, true);

  function describeDay({ dates, line, trend, formatDay }: ChartData, index: number): string {
    const values = [line, trend].flatMap((each) => (each ? [each.format(each.values[index] ?? 0)] : []));
    return `${formatDay(dates[index] ?? '')}: ${values.join(', ')}`;
  }

  /** Announces a day's values; undefined for the highest day. */
  function announce(index: number | undefined) {
    if (!current) return;
    const { dates } = current.data;
    cursorIndex = index;
    const text = describeDay(current.data, index ?? dates.length - 1);
    readout.textContent = index === undefined ? `Highest on ${describeDay(current.data, highest(current.data))}` : text;
    container.setAttribute('aria-valuenow', String((index ?? dates.length - 1) + 1));
    container.setAttribute('aria-valuetext', text);
  }

  function moveCursor(index: number) {
    if (!current) return;
    const { plot, data } = current;
    const to = Math.min(Math.max(index, 0), data.dates.length - 1);
    const [left, top] = [plot.valToPos(plot.data[0][to] ?? 0, 'x'), plot.valToPos(plot.data[1]?.[to] ?? 0, 'y')];
    plot.setCursor({ left, top }, false);
    announce(to);
  }

  container.onkeydown = (event) => {
    const last = (current?.data.dates.length ?? 0) - 1;
    const from = cursorIndex ?? last;
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
    moveCursor(to);
  };
  container.onfocus = () => container.matches(':focus-visible') && moveCursor(cursorIndex ?? Number.MAX_SAFE_INTEGER);
  container.onblur = () => {
    current?.plot.setCursor({ left: -10, top: -10 }, false);
    announce(undefined);
  };

  return (data: ChartData) => {
    const { dates, line, trend } = data;
    current?.plot.destroy();
    const rows: UPlot.AlignedData = [
      dates.map((date) => instantOf(date) / 1000),
      [...line.values],
      ...(trend ? [[...trend.values]] : []),
    ];
    const plot = new UPlot(
      optionsOf({ ...sizeOf(), days: dates.length, hasTrend: trend !== undefined, onCursor: announce }),
      rows,
      container,
    );
    current = { plot, data };
    container.setAttribute('aria-label', `${line.label} by day${trend ? `, with ${trend.label}` : ''}`);
    container.setAttribute('aria-valuemin', '1');
    container.setAttribute('aria-valuemax', String(dates.length));
    // A refresh keeps the keyboard cursor.
    if (cursorIndex !== undefined && document.activeElement === container) moveCursor(cursorIndex);
    else announce(undefined);
  };
}

const highest = ({ line: { values } }: ChartData) => values.indexOf(Math.max(...values));
