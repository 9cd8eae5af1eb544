/** A report as it looks: totals, the chart with its table, and the lists. */
import { byId, element } from '../shared/dom.js';
import { createChart } from './chart.js';
import type { Metric, Report, Trend } from './contract.js';
import { csvOf, download } from './csv.js';
import { day, formatMetric, longDay, NAMES, number } from './formatting.js';
import { createLists } from './lists.js';
import { isSameTrend } from './lists-of.js';
import { createTotals } from './totals.js';

/** It is read out when it changes, and only then. */
function tellRange(what: string) {
  const place = byId('range');
  if (place.textContent !== what) place.textContent = what;
}

export function createReportView() {
  let shown: { readonly site: string; readonly report: Report } | undefined;
  let metric: Metric = 'pageviews';
  let trend: Trend | undefined;

  const drawChart = createChart();
  const showTotals = createTotals((chosen) => {
    metric = chosen;
    draw();
  });
  const showLists = createLists((chosen) => {
    trend = chosen;
    draw();
  });
  const table = byId<HTMLDetailsElement>('table');
  const noTrend = byId('no-trend');
  noTrend.onclick = () => {
    trend = undefined;
    draw();
    byId('chart').focus();
  };
  table.ontoggle = fillTable;
  // It scrolls, and so must be reached by keyboard.
  table.querySelector<HTMLElement>('.scrolled')!.tabIndex = 0;
  byId('save-series').onclick = () => {
    if (!shown) return;
    const { report } = shown;
    const rows = report.series.map(({ date, pageviews, uniques, events }) => [date, pageviews, uniques, events]);
    download(fileName('days'), csvOf(['date', 'pageviews', 'uniques', 'events'], rows));
  };

  function fileName(what: string): string {
    const { start, end } = shown!.report.range;
    return `${shown!.site}-${what}-${start}-${end}.csv`;
  }

  /** Of up to two years, when somebody looks. */
  function fillTable() {
    if (!table.open || !shown) return;
    const rows = shown.report.series.map(({ date, pageviews, uniques, events }) =>
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, day(date)),
        ...[pageviews, uniques, events].map((value) => element('td', {}, number(value))),
      ),
    );
    table.querySelector('tbody')!.replaceChildren(...rows);
  }

  function draw() {
    if (!shown) return;
    const { report } = shown;
    const { range, series, totals } = report;
    const isEmpty = totals.pageviews + totals.events === 0;
    byId('totals').hidden = false;
    byId('nothing').hidden = !isEmpty;
    byId('days').hidden = byId('lists').hidden = isEmpty;
    const { start, end } = range;
    tellRange(start === end ? day(end) : `${day(start)} to ${day(end)}`);
    byId('chart-title').textContent = `${NAMES[metric]} by days`;
    noTrend.hidden = trend === undefined;
    noTrend.textContent = `Without ${trend?.label ?? ''}`;
    showTotals(report, metric);
    showLists(report, trend, fileName);
    drawChart({
      dates: series.map(({ date }) => date),
      line: {
        label: NAMES[metric],
        values: series.map((each) => each[metric]),
        format: (value) => formatMetric(value, metric),
      },
      trend: trend && {
        label: trend.label,
        values: trend.values.map(({ count }) => count),
        format: (value) => `${trend?.label} ${number(value)}`,
      },
      formatDay: longDay,
    });
    fillTable();
  }

  return {
    show(site: string, report: Report) {
      shown = { site, report };
      trend = report.trends.find((each) => isSameTrend(trend, each));
      draw();
    },
    /** As before anything is known of a site. */
    clear() {
      [shown, trend] = [undefined, undefined];
      for (const id of ['totals', 'nothing', 'days', 'lists']) byId(id).hidden = true;
      tellRange('Counting…');
    },
    /** What was shown stays. */
    failed() {
      if (!shown) tellRange('');
    },
  };
}
