/** A small line of values without axes; screen readers skip it, as the totals are beside it. */
const [WIDTH, HEIGHT, MARGIN] = [240, 40, 2];

export function Sparkline({ values }: { values: readonly number[] }) {
  const highest = Math.max(1, ...values);
  const last = Math.max(1, values.length - 1);
  const points = values.map((value, index) => {
    const x = (index / last) * WIDTH;
    const y = HEIGHT - MARGIN - (value / highest) * (HEIGHT - 2 * MARGIN);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  return (
    <svg class="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <polygon points={`0,${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}`} />
      <polyline points={points.join(' ')} vector-effect="non-scaling-stroke" />
    </svg>
  );
}
