/** Totals of the period compared with the previous one; the pressed one is in the chart. */
import { ArrowDown, ArrowUp } from 'lucide-preact';
import { Icon } from '../../shared/components/icon.js';
import { METRICS, type Metric, type Report } from '../contract.js';
import { number } from '../formatting.js';
import { METRIC_NAMES, reportTexts } from '../texts.js';
import { metric, metricOf } from './chosen.js';

export function Totals({ report }: { report: Report }) {
  return (
    <section id="totals" aria-label={reportTexts.totals}>
      {METRICS.map((each) => (
        <Tile key={each} of={each} report={report} />
      ))}
    </section>
  );
}

function Tile({ of, report }: { of: Metric; report: Report }) {
  function choose() {
    metric.value = of;
  }
  const total = report.totals[of];
  if (total === null)
    return (
      <div class="tile">
        {METRIC_NAMES[of]}
        <span class="change">{reportTexts.notKept}</span>
      </div>
    );
  return (
    <button type="button" class="tile" aria-pressed={metricOf(report) === of} onClick={choose}>
      {METRIC_NAMES[of]}
      <strong>{number(total)}</strong>
      <Change of={of} report={report} />
    </button>
  );
}

/** Totals of this and of the previous period without their last days, as today is not over. */
const withoutLastDay = (of: Metric, { totals, series, comparison }: Report): readonly [number, number] => [
  (totals[of] ?? 0) - (series.at(-1)?.[of] ?? 0),
  (comparison.previous[of] ?? 0) - (comparison.previousLastDay[of] ?? 0),
];

/** How a total differs from that of the previous period, and what that was. */
export function Change({ of, report }: { of: Metric; report: Report }) {
  const { comparison, range, generatedAt } = report;
  const { previous } = comparison;
  const isUnfinished = generatedAt.startsWith(range.end);
  const count = previous[of] ?? 0;
  if (!previous.complete) {
    const text = count === 0 ? reportTexts.noEarlier : reportTexts.incomplete(reportTexts.previous(count, range.days));
    return <span class="change">{text}</span>;
  }
  // Hours of today cannot be compared with a whole day.
  if (range.days === 1 && isUnfinished) return <span class="change">{reportTexts.wholeDayBefore(number(count))}</span>;
  const [now, then] = isUnfinished ? withoutLastDay(of, report) : [report.totals[of] ?? 0, count];
  const text = reportTexts.previous(then, range.days, isUnfinished);
  const percent = then === 0 ? 0 : Math.round((100 * (now - then)) / then);
  if (percent === 0) return <span class="change">{text}</span>;
  const isUp = percent > 0;
  return (
    <span class="change">
      <span class={isUp ? 'up' : 'down'}>
        <Icon of={isUp ? ArrowUp : ArrowDown} />
        {reportTexts.percent(percent)} <span class="unseen">{isUp ? reportTexts.more : reportTexts.less} </span>
      </span>
      {reportTexts.from(text)}
    </span>
  );
}
