/** Card of the chart: the chosen metric over the period, with a table of its values. */
import { Download, X } from 'lucide-preact';
import { useMemo } from 'preact/hooks';
import { Button, IconButton } from '../../shared/components/button.js';
import { csvOf, download } from '../../shared/csv.js';
import {
  type Bucket,
  bucketsOf,
  type Resolution,
  resolutionFor,
  resolutionsOf,
  sumsOf,
  valuesOf,
} from '../chart/buckets.js';
import { Chart } from '../chart/chart.js';
import type { ChartData } from '../chart/chart-data.js';
import { METRICS, type Report, type Trend } from '../contract.js';
import { number } from '../formatting.js';
import { isComparable, previousOf } from '../state/previous.js';
import type { LoadedReport } from '../state/report.js';
import { chartTexts, METRIC_NAMES, metricText } from '../texts.js';
import { isCompared, isTableOpen, metric, metricOf, resolution, toggleComparison, trend } from './chosen.js';
import { fileName, isSameTrend } from './lists-of.js';

function chartDataOf(report: Report, previous: Report | undefined, shownTrend: Trend | undefined): ChartData {
  const chosen = metricOf(report);
  const by = resolutionFor(report, chosen, resolution.value);
  const buckets = bucketsOf(report, by, Date.parse(report.generatedAt));
  return {
    resolution: by,
    buckets,
    line: {
      label: METRIC_NAMES[chosen],
      values: sumsOf(buckets, valuesOf(report, chosen, by)),
      format: (value) => metricText(value, chosen),
    },
    previous: previous && sumsOf(buckets, valuesOf(previous, chosen, by)),
    trend: shownTrend && {
      label: shownTrend.label,
      values: sumsOf(
        buckets,
        shownTrend.values.map(({ count }) => count),
      ),
      format: (value) => `${shownTrend.label} ${number(value)}`,
    },
  };
}

export function SeriesCard({ current }: { current: LoadedReport }) {
  const { site, report } = current;
  const shownTrend = report.trends.find((each) => isSameTrend(trend.value, each));
  const previous = isCompared.value && isComparable(report) ? previousOf(current) : undefined;
  const data = useMemo(
    () => chartDataOf(report, previous, shownTrend),
    [report, previous, shownTrend, metric.value, resolution.value],
  );

  function save() {
    const rows = report.series.map(({ date, pageviews, uniques, events }) => [date, pageviews, uniques ?? '', events]);
    download(fileName(site, 'days', report), csvOf(['date', 'pageviews', 'uniques', 'events'], rows));
  }
  function hideTrend() {
    trend.value = undefined;
    document.getElementById('chart')?.focus();
  }

  return (
    <section class="card series" id="days" aria-labelledby="chart-title">
      <header>
        <h2 id="chart-title">{chartTexts.by(data.line.label, chartTexts.units[data.resolution])}</h2>
        {shownTrend && (
          <Button small icon={X} id="no-trend" onClick={hideTrend}>
            {chartTexts.hideTrend(shownTrend.label)}
          </Button>
        )}
        <Resolutions report={report} shown={data.resolution} />
        {isComparable(report) && (
          <Button small aria-pressed={isCompared.value} onClick={toggleComparison}>
            {chartTexts.comparison}
          </Button>
        )}
        <IconButton small icon={Download} label={chartTexts.save} onClick={save} />
      </header>
      <Chart data={data} />
      <p id="chart-help" class="quiet">
        {chartTexts.help} {data.buckets.some(({ isUnfinished }) => isUnfinished) && chartTexts.unfinished}{' '}
        {report.range.days > 1 && !report.notKept && chartTexts.uniques} <span class="unseen">{chartTexts.keys}</span>
      </p>
      <ValueTable report={report} data={data} />
    </section>
  );
}

function Resolutions({ report, shown }: { report: Report; shown: Resolution }) {
  const all = resolutionsOf(report, metricOf(report));
  if (all.length < 2) return null;
  return (
    <fieldset class="segments small">
      <legend class="unseen">{chartTexts.resolution}</legend>
      {all.map((each) => (
        <label key={each}>
          <input
            type="radio"
            name="resolution"
            checked={each === shown}
            onChange={() => {
              resolution.value = each;
            }}
          />
          <span>{chartTexts.resolutions[each]}</span>
        </label>
      ))}
    </fieldset>
  );
}

/** Rows are rendered only while it is open, as it can have two years of days. */
function ValueTable({ report, data: { buckets, resolution: by } }: { report: Report; data: ChartData }) {
  const isOpen = isTableOpen.value;
  function onToggle(event: Event) {
    isTableOpen.value = (event.currentTarget as HTMLDetailsElement).open;
  }
  return (
    <details id="table" open={isOpen} onToggle={onToggle}>
      <summary>{chartTexts.table}</summary>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        <section class="scrolled" aria-label={chartTexts.tableLabel} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">{chartTexts.point1[by]}</th>
                {METRICS.map((each) => (
                  <th key={each} scope="col">
                    {METRIC_NAMES[each]}
                  </th>
                ))}
              </tr>
            </thead>
            <ValueRows report={report} buckets={buckets} by={by} />
          </table>
        </section>
      )}
    </details>
  );
}

function ValueRows({ report, buckets, by }: { report: Report; buckets: readonly Bucket[]; by: Resolution }) {
  const columns = METRICS.map((each) => {
    const values = valuesOf(report, each, by);
    return values && sumsOf(buckets, values);
  });
  return (
    <tbody>
      {buckets.map(({ start, label }, index) => (
        <tr key={start}>
          <th scope="row">{label}</th>
          {columns.map((values, column) => (
            <td key={METRICS[column]}>{values ? number(values[index] ?? 0) : chartTexts.notKept}</td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}
