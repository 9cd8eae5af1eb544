/** Report view: totals, chart with table, and lists. */

import { csvOf, download } from '../shared/csv.js';
import { byId, element } from '../shared/dom.js';
import { createChart } from './chart.js';
import type { Metric, Report, Trend } from './contract.js';
import { day, formatMetric, longDay, NAMES, number } from './formatting.js';
import { createLists } from './lists.js';
import { isSameTrend } from './lists-of.js';
import { createTotals } from './totals.js';

/** Sets the range only if it changes, as screen readers announce every update. */
function showRange(text: string) {
  const line = byId('range');
  if (line.textContent !== text) line.textContent = text;
}

export function createReportView() {
  let current: { readonly site: string; readonly report: Report } | undefined;
  let metric: Metric = 'pageviews';
  let trend: Trend | undefined;

  const drawChart = createChart();
  const showTotals = createTotals((selected) => {
    metric = selected;
    draw();
  });
  const showLists = createLists((selected) => {
    trend = selected;
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
  // Scrollable regions must be focusable by keyboard.
  table.querySelector<HTMLElement>('.scrolled')!.tabIndex = 0;
  byId('save-series').onclick = () => {
    if (!current) return;
    const { report } = current;
    const rows = report.series.map(({ date, pageviews, uniques, events }) => [date, pageviews, uniques, events]);
    download(fileName('days'), csvOf(['date', 'pageviews', 'uniques', 'events'], rows));
  };

  function fileName(what: string): string {
    const { start, end } = current!.report.range;
    return `${current!.site}-${what}-${start}-${end}.csv`;
  }

  /** Renders the table only while it is open, as it can have two years of rows. */
  function fillTable() {
    if (!table.open || !current) return;
    const rows = current.report.series.map(({ date, pageviews, uniques, events }) =>
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
    if (!current) return;
    const { report } = current;
    const { range, series, totals } = report;
    const isEmpty = totals.pageviews + totals.events === 0;
    byId('totals').hidden = false;
    byId('nothing').hidden = !isEmpty;
    byId('days').hidden = byId('lists').hidden = isEmpty;
    const { start, end } = range;
    showRange(start === end ? day(end) : `${day(start)} to ${day(end)}`);
    byId('chart-title').textContent = `${NAMES[metric]} by day`;
    noTrend.hidden = trend === undefined;
    noTrend.textContent = `Hide ${trend?.label ?? ''}`;
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
      current = { site, report };
      trend = report.trends.find((each) => isSameTrend(trend, each));
      draw();
    },
    /** Resets the view until a report is loaded. */
    clear() {
      [current, trend] = [undefined, undefined];
      for (const id of ['totals', 'nothing', 'days', 'lists']) byId(id).hidden = true;
      showRange('Counting…');
    },
    /** Keeps the last report after a failed request. */
    failed() {
      if (!current) showRange('');
    },
  };
}
