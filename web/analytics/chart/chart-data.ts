/** What the chart shows, and how it is said. */
import type { AlignedData } from 'uplot';
import { chartTexts } from '../texts.js';
import type { Bucket, Resolution } from './buckets.js';
import type { LineKind } from './chart-options.js';

export interface Line {
  readonly label: string;
  /** One per bucket. */
  readonly values: readonly number[];
  /** Formats a value with its unit. */
  format(value: number): string;
}

export interface ChartData {
  readonly resolution: Resolution;
  readonly buckets: readonly Bucket[];
  readonly line: Line;
  /** Values of the previous period, bucket by bucket. */
  readonly previous: readonly number[] | undefined;
  /** Optional second line. */
  readonly trend: Line | undefined;
}

/** Name of the chart for screen readers. */
export function chartLabel({ line, trend, resolution }: ChartData): string {
  const label = chartTexts.by(line.label, chartTexts.units[resolution]);
  return trend ? chartTexts.with(label, trend.label) : label;
}

/** Says the values of a point. */
export function pointText({ buckets, line, previous, trend }: ChartData, index: number): string {
  const bucket = buckets[index];
  if (!bucket) return '';
  const value = line.format(line.values[index] ?? 0);
  const before = previous && line.format(previous[index] ?? 0);
  const values = [before === undefined ? value : chartTexts.previously(value, before)];
  if (trend) values.push(trend.format(trend.values[index] ?? 0));
  return chartTexts.point(bucket.label, bucket.isUnfinished, values);
}

export const highestPoint = ({ line: { values } }: ChartData): number => values.indexOf(Math.max(...values));

export function linesOf({ previous, trend }: ChartData): readonly LineKind[] {
  return [
    'finished',
    'unfinished',
    ...(previous ? (['previous'] as const) : []),
    ...(trend ? (['trend'] as const) : []),
  ];
}

/** Columns of uPlot; the segments beside a partial point are a line of their own, as they are dashed. */
export function columnsOf({ buckets, line: { values }, previous, trend }: ChartData): AlignedData {
  const isPartial = (index: number) => buckets[index]?.isPartial === true;
  const known = values.map((value, index) => (buckets[index]?.isFuture ? null : value));
  const finished = known.map((value, index) => (isPartial(index) ? null : value));
  const unfinished = known.map((value, index) =>
    isPartial(index - 1) || isPartial(index) || isPartial(index + 1) ? value : null,
  );
  return [
    buckets.map(({ start }) => start / 1000),
    finished,
    unfinished,
    ...(previous ? [[...previous]] : []),
    ...(trend ? [[...trend.values]] : []),
  ];
}
