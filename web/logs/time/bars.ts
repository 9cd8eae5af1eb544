/** Bars of the histogram: their width, and counts by time as the service gives them. */
import type { Bucket } from '../contract.js';
import type { Bounds } from './range.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Widths that the service counts by: `1m` to `1d`. */
const WIDTHS = [1, 2, 5, 10, 15, 30].map((n) => n * MINUTE).concat([1, 2, 3, 6, 12, 24].map((n) => n * HOUR));
const MAX_BARS = 120;

export interface Scale {
  /** Start of the first bar, Unix ms. */
  readonly start: number;
  readonly bars: number;
  /** Milliseconds of a bar. */
  readonly widthMs: number;
  /** Width that the service counts by; a bar is a multiple of it. */
  readonly intervalMs: number;
}

/** Few enough bars over closed bounds. At least `atLeastMs` wide: whole hours are counted without a search. */
export function scaleOf({ from, to }: { from: number; to: number }, atLeastMs = 0): Scale {
  const fits = (width: number) => (to - from) / width <= MAX_BARS && width >= atLeastMs;
  const intervalMs = WIDTHS.find(fits) ?? DAY;
  const widthMs = intervalMs * Math.max(1, Math.ceil((to - from) / intervalMs / MAX_BARS));
  const start = Math.floor(from / widthMs) * widthMs;
  return { start, bars: Math.max(1, Math.ceil((to + 1 - start) / widthMs)), widthMs, intervalMs };
}

/** Count and unit of an interval of whole seconds, in the largest unit that divides it. */
export function intervalOf(ms: number): readonly [count: number, unit: string] {
  if (ms % DAY === 0) return [ms / DAY, 'd'];
  if (ms % HOUR === 0) return [ms / HOUR, 'h'];
  return ms % MINUTE === 0 ? [ms / MINUTE, 'm'] : [ms / 1000, 's'];
}

/** `30s`, `5m`, `2h` or `1d`. */
export const intervalText = (ms: number): string => intervalOf(ms).join('');

/** Narrower than the service counts by; for records that are all loaded. */
const FINE_WIDTHS = [1, 2, 5, 10, 15, 30].map((n) => n * 1000);

/** Bars of whole seconds where minutes would be too wide; undefined otherwise. */
export function fineScaleOf({ from, to }: { from: number; to: number }): Scale | undefined {
  const widthMs = FINE_WIDTHS.find((width) => (to - from) / width <= MAX_BARS);
  if (widthMs === undefined) return undefined;
  const start = Math.floor(from / widthMs) * widthMs;
  return { start, bars: Math.max(1, Math.ceil((to + 1 - start) / widthMs)), widthMs, intervalMs: widthMs };
}

/** Counts by bar; what is outside the scale is left out. */
export function barsOf(buckets: readonly Bucket[], { start, bars, widthMs }: Scale): readonly number[] {
  const counts = new Array<number>(bars).fill(0);
  for (const { key, count } of buckets) {
    const bar = Math.floor((Date.parse(key) - start) / widthMs);
    if (bar >= 0 && bar < bars) counts[bar]! += count;
  }
  return counts;
}

/** Closed bounds for unbounded ones: from the earliest bucket to now, or the latest bucket where that is later. */
export function closedBounds({ from, to }: Bounds, days: readonly Bucket[], now: number) {
  const instants = days.map(({ key }) => Date.parse(key)).filter(Number.isFinite);
  const latest = instants.reduce((max, each) => Math.max(max, each), 0);
  return {
    from: from ?? instants.reduce((min, each) => Math.min(min, each), now - DAY),
    to: to ?? Math.max(now, latest > now ? latest + DAY : now),
  };
}

const TICK_STEPS = [
  ...FINE_WIDTHS,
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((n) => n * DAY),
];

/** Round instants of the local zone for the axis, at most `most`, as fractions of the width. */
export function ticksOf({ start, bars, widthMs }: Scale, most: number): readonly { at: number; share: number }[] {
  const length = bars * widthMs;
  const step = TICK_STEPS.find((each) => length / each <= most) ?? length;
  const offsetMs = new Date(start).getTimezoneOffset() * MINUTE;
  const first = Math.ceil((start - offsetMs) / step) * step + offsetMs;
  const count = Math.max(0, Math.ceil((start + length - first) / step));
  return Array.from({ length: count }, (_, n) => first + n * step).map((at) => ({ at, share: (at - start) / length }));
}
