/** Small charts of the last hour. */
import type { Activity } from '../contract.js';
import { formatNumber } from '../format.js';
import { texts } from '../texts.js';

/** Units of the drawing, which is stretched to its place. */
const [WIDTH, HEIGHT] = [240, 48];

export function Charts({ sliceMs, slices }: Activity) {
  if (slices.length === 0) return <p class="quiet">{texts.charts.empty}</p>;
  const perSecond = (count: number) => (count * 1000) / sliceMs;
  return (
    <div class="charts">
      <Chart name={texts.charts.requests} values={slices.map(({ requests }) => perSecond(requests))} />
      <Chart name={texts.charts.latency} values={slices.map(({ p95 }) => p95)} />
      <Chart name={texts.charts.events} values={slices.map(({ events }) => perSecond(events))} />
      <Chart name={texts.charts.failures} values={slices.map(({ failures }) => failures)} />
    </div>
  );
}

function Chart({ name, values }: { name: string; values: readonly (number | undefined)[] }) {
  const now = texts.charts.now(values.at(-1));
  const highest = Math.max(0, ...values.map((value) => value ?? 0));
  const most = formatNumber(highest);
  return (
    <figure class="chart">
      <figcaption>
        <span class="quiet">{name}</span>
        <strong>{now}</strong>
        <span class="quiet">{texts.charts.most(most)}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={texts.charts.label(name, now, most)}
      >
        <path class="area" d={`${lineOf(values, highest)} L${WIDTH},${HEIGHT} L0,${HEIGHT} Z`} />
        <path class="line" d={lineOf(values, highest)} />
      </svg>
    </figure>
  );
}

/** A slice without requests has no latency, and is drawn as zero. */
function lineOf(values: readonly (number | undefined)[], highest: number): string {
  const drawn = values.length === 1 ? [values[0], values[0]] : values;
  const points = drawn.map((value = 0, index) => {
    const [x, y] = [(index / (drawn.length - 1)) * WIDTH, HEIGHT - 1 - (value / (highest || 1)) * (HEIGHT - 3)];
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return `M${points.join(' L')}`;
}
