/** uPlot options of the chart: page colours, UTC days. */
import UPlot from 'uplot';
import { short, tick } from './formatting.js';

const DAY = 86_400;
const MONTH = 30 * DAY;
const DAY_INCREMENTS = [1, 2, 4, 7, 14, 30, 60, 90, 180, 365].map((days) => days * DAY);
const COUNT_INCREMENTS = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((of) => of * 10 ** power)).flat();
/** CSS variables of the series' colours; series 0 are the days. */
const SERIES_COLOURS = ['', '--accent', '--second'] as const;

const styles = getComputedStyle(document.documentElement);
const colour = (name: string) => () => styles.getPropertyValue(name).trim();
const font = () => `12px ${getComputedStyle(document.body).fontFamily}`;

export interface ChartOptions {
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly days: number;
  readonly hasTrend: boolean;
  /** Called with the index under the pointer; undefined if outside. */
  onCursor(index: number | undefined): void;
}

export function optionsOf({ width, height, days, hasTrend, onCursor }: ChartOptions): UPlot.Options {
  const axis = { font: font(), stroke: colour('--quiet'), ticks: { show: false } };
  const points = { show: days <= 31, size: 5, fill: colour('--surface') };
  return {
    width,
    height,
    tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    legend: { show: false },
    padding: [10, 24, 0, 0],
    cursor: {
      y: false,
      drag: { x: false, y: false },
      points: { size: 9, width: 0, fill: (_, line) => colour(SERIES_COLOURS[line] ?? '')() },
    },
    scales: {
      // Centers a single day.
      x: { range: (_, first, last) => (days === 1 ? [first - 0.9 * DAY, first + 0.9 * DAY] : [first, last]) },
      // Starts at zero, so that heights are comparable.
      y: { range: (_, __, highest) => [0, Math.max(4, (highest ?? 0) * 1.08)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 64,
        size: 30,
        incrs: DAY_INCREMENTS,
        values: (_, splits, __, ___, step) => splits.map((each) => tick(each, step >= MONTH)),
      },
      {
        ...axis,
        grid: { stroke: colour('--line'), width: 1 },
        size: 44,
        incrs: COUNT_INCREMENTS,
        values: (_, splits) => splits.map(short),
      },
    ],
    series: [
      {},
      { stroke: colour(SERIES_COLOURS[1]), width: 2, fill: colour('--accent-soft'), points },
      ...(hasTrend ? [{ stroke: colour(SERIES_COLOURS[2]), width: 2, dash: [6, 3], points }] : []),
    ],
    hooks: { setCursor: [({ cursor }) => onCursor(cursor.idx ?? undefined)] },
  };
}
