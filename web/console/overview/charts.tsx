/** Small charts of the last hour, with the time below and the value under the pointer. */
import { useState } from 'preact/hooks';
import { clockTime, clockTimeWithSeconds } from '../../shared/components/time.js';
import type { Activity } from '../contract.js';
import { formatNumber } from '../format.js';
import { texts } from '../texts.js';

/** Units of the drawing, which is stretched to its place. */
const [WIDTH, HEIGHT] = [240, 48];
/** Charts with fewer slices span too few minutes for a time in the middle. */
const MIN_SLICES_WITH_MIDDLE = 30;

export function Charts({ sliceMs, slices }: Activity) {
  if (slices.length === 0) return <p class="quiet">{texts.charts.empty}</p>;
  const perSecond = (count: number) => (count * 1000) / sliceMs;
  const times = slices.map(({ at }) => Date.parse(at));
  return (
    <div class="charts">
      <Chart name={texts.charts.requests} times={times} values={slices.map(({ requests }) => perSecond(requests))} />
      <Chart name={texts.charts.latency} times={times} values={slices.map(({ p95 }) => p95)} />
      <Chart name={texts.charts.events} times={times} values={slices.map(({ events }) => perSecond(events))} />
      <Chart name={texts.charts.failures} times={times} values={slices.map(({ failures }) => failures)} />
    </div>
  );
}

interface ChartProps {
  readonly name: string;
  /** Unix ms of each value. */
  readonly times: readonly number[];
  readonly values: readonly (number | undefined)[];
}

function Chart({ name, times, values }: ChartProps) {
  const [hovered, setHovered] = useState<number>();
  const now = texts.charts.now(values.at(-1));
  const highest = Math.max(0, ...values.map((value) => value ?? 0));
  const most = formatNumber(highest);
  return (
    <figure class="chart">
      <figcaption>
        <span class="quiet">{name}</span>
        <strong>{now}</strong>
        <span class="quiet">
          {hovered === undefined
            ? texts.charts.most(most)
            : texts.charts.at(clockTimeWithSeconds(times[hovered] ?? 0), values[hovered])}
        </span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={texts.charts.label(name, now, most)}
        onPointerMove={(event) => {
          const { left, width } = event.currentTarget.getBoundingClientRect();
          const index = Math.round(((event.clientX - left) / width) * (values.length - 1));
          setHovered(Math.max(0, Math.min(values.length - 1, index)));
        }}
        onPointerLeave={() => setHovered(undefined)}
      >
        <path class="grid" d={`M0,2 H${WIDTH} M0,${(HEIGHT + 1) / 2} H${WIDTH}`} />
        <path class="area" d={`${lineOf(values, highest)} L${WIDTH},${HEIGHT} L0,${HEIGHT} Z`} />
        <path class="line" d={lineOf(values, highest)} />
        {hovered !== undefined && <path class="hovered" d={`M${xOf(hovered, values.length)},0 V${HEIGHT}`} />}
      </svg>
      <div class="axis quiet" aria-hidden="true">
        <span>{clockTime(times[0] ?? 0)}</span>
        {times.length > MIN_SLICES_WITH_MIDDLE && (
          <span>{clockTime(times[Math.floor((times.length - 1) / 2)] ?? 0)}</span>
        )}
        <span>{clockTime(times.at(-1) ?? 0)}</span>
      </div>
    </figure>
  );
}

const xOf = (index: number, count: number) => ((index / Math.max(1, count - 1)) * WIDTH).toFixed(1);

/** A slice without requests has no latency, and is drawn as zero. */
function lineOf(values: readonly (number | undefined)[], highest: number): string {
  const drawn = values.length === 1 ? [values[0], values[0]] : values;
  const points = drawn.map((value = 0, index) => {
    const y = HEIGHT - 1 - (value / (highest || 1)) * (HEIGHT - 3);
    return `${xOf(index, drawn.length)},${y.toFixed(1)}`;
  });
  return `M${points.join(' L')}`;
}
