/** uPlot options of the chart: page colours, times in UTC. */
import UPlot from 'uplot';
import { utcClockTime } from '../../shared/components/time.js';
import { dayTick, monthTick, short } from '../formatting.js';
import type { Resolution } from './buckets.js';

const HOUR = 3600;
const DAY = 24 * HOUR;
const MONTH = 30 * DAY;
const HOUR_INCREMENTS = [1, 2, 3, 4, 6, 12].map((hours) => hours * HOUR);
const DAY_INCREMENTS = [1, 2, 4, 7, 14, 30, 60, 90, 180, 365].map((days) => days * DAY);
const COUNT_INCREMENTS = Array.from({ length: 12 }, (_, power) => [1, 2, 5].map((of) => of * 10 ** power)).flat();
const DASH = [6, 4];
/** Most points that are drawn as dots. */
const MAX_DOTS = 31;

const styles = getComputedStyle(document.documentElement);
const colour = (name: string) => () => styles.getPropertyValue(name).trim();
const font = () => `12px ${getComputedStyle(document.body).fontFamily}`;

/** Lines of the chart in the order of their data. */
export type LineKind = 'finished' | 'unfinished' | 'previous' | 'trend';

const LINE_COLOURS: { readonly [kind in LineKind]: string } = {
  finished: '--accent',
  unfinished: '--accent',
  previous: '--faint',
  trend: '--second',
};

export interface ChartOptions {
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly points: number;
  readonly resolution: Resolution;
  readonly lines: readonly LineKind[];
  /** Called with the index under the pointer; undefined if outside. */
  onCursor(index: number | undefined): void;
}

export function optionsOf({ width, height, points, resolution, lines, onCursor }: ChartOptions): UPlot.Options {
  const axis = { font: font(), stroke: colour('--quiet'), ticks: { show: false } };
  const tick = (seconds: number, step: number) => {
    if (resolution === 'hour') return utcClockTime(seconds * 1000);
    return (step >= MONTH ? monthTick : dayTick)(seconds * 1000);
  };
  return {
    width,
    height,
    tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    legend: { show: false },
    padding: [10, 24, 0, 0],
    cursor: {
      y: false,
      drag: { x: false, y: false },
      points: { size: 9, width: 0, fill: (_, line) => colour(LINE_COLOURS[lines[line - 1] ?? 'finished'])() },
    },
    scales: {
      // Centers a single point.
      x: { range: (_, first, last) => (points === 1 ? [first - 0.9 * DAY, first + 0.9 * DAY] : [first, last]) },
      // Starts at zero, so that heights are comparable.
      y: { range: (_, __, highest) => [0, Math.max(4, (highest ?? 0) * 1.08)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 64,
        size: 30,
        incrs: resolution === 'hour' ? HOUR_INCREMENTS : DAY_INCREMENTS,
        values: (_, splits, __, ___, step) => splits.map((each) => tick(each, step)),
      },
      {
        ...axis,
        grid: { stroke: colour('--line'), width: 1 },
        size: 44,
        incrs: COUNT_INCREMENTS,
        values: (_, splits) => splits.map(short),
      },
    ],
    series: [{}, ...lines.map((kind) => lineOf(kind, points <= MAX_DOTS))],
    hooks: { setCursor: [({ cursor }) => onCursor(cursor.idx ?? undefined)] },
  };
}

function lineOf(kind: LineKind, hasDots: boolean): UPlot.Series {
  const stroke = colour(LINE_COLOURS[kind]);
  const points = { show: hasDots && kind !== 'previous', size: 5, fill: colour('--surface') };
  if (kind === 'finished') return { stroke, width: 2, fill: colour('--accent-soft'), points };
  if (kind === 'unfinished') return { stroke, width: 2, fill: colour('--accent-soft'), dash: DASH, points };
  return { stroke, width: kind === 'previous' ? 1.5 : 2, points };
}
