/** The histogram in seconds, where the range is short and all of its records are loaded: the service counts by minutes. */
import { computed } from '@preact/signals';
import { barsOf, fineScaleOf } from '../time/bars.js';
import { boundsOf } from '../time/range.js';
import { type Histogram, histogram, total } from './counts.js';
import { ranAt } from './explorer-state.js';
import { ERROR_LEVELS, WARNING_LEVELS } from './levels.js';
import { entries } from './results.js';
import { view } from './view.js';

/** Undefined where the counts of the service are shown. */
export const fine = computed<Histogram | undefined>(() => {
  const { value: counted } = histogram;
  const { value: records } = entries;
  if (!counted || records.length === 0 || records.length !== total.value) return undefined;
  const { start, bars, widthMs } = counted.scale;
  const { from = start, to = Math.min(ranAt.value, start + bars * widthMs) } = boundsOf(view.value.range, ranAt.value);
  const scale = fineScaleOf({ from, to });
  if (!scale || scale.widthMs >= widthMs) return undefined;
  const bucketsOf = (levels?: readonly string[]) =>
    records
      .filter(({ level }) => levels?.includes(level) ?? true)
      .map(({ timestamp }) => ({ key: timestamp, count: 1 }));
  const [totals, errors, warnings] = [undefined, ERROR_LEVELS, WARNING_LEVELS].map((levels) =>
    barsOf(bucketsOf(levels), scale),
  );
  return { scale, totals: totals ?? [], errors: errors ?? [], warnings: warnings ?? [] };
});
