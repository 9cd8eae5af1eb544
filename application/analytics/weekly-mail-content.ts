/** Renders a weekly mail about a site, in text and HTML. */
import type { FilteredReport } from '../../domain/analytics/filtered-report.js';
import { OTHER } from '../../domain/analytics/frequent-values.js';
import type { NamedCount, Report } from '../../domain/analytics/report.js';
import { type EmailContent, escapeHtml } from '../mail/link-email.js';

export interface WeeklyMailLinks {
  /** Name of the site. */
  readonly name: string;
  readonly reportUrl: string;
  readonly unsubscribeUrl: string;
}

type Row = readonly [what: string, count: string];
type Section = readonly [title: string, rows: readonly Row[]];

/** Rows of each list. */
export const MAIL_ROWS = 5;
const REASON = 'You get this mail each Monday because you asked for it in the dashboard.';

const number = (value: number | null): string => (value ?? 0).toLocaleString('en-US');
const day = (date: string): string =>
  new Date(date).toLocaleString('en-GB', { timeZone: 'UTC', day: 'numeric', month: 'long', year: 'numeric' });
const countries = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });

const change = (percent: number | null, previous: number | null): string =>
  percent === null
    ? `${number(previous)} in the week before`
    : `${percent > 0 ? '+' : ''}${percent} %, from ${number(previous)} in the week before`;

const rowsOf = (list: readonly NamedCount[], labelOf = (name: string) => name): readonly Row[] =>
  list
    .filter(({ name }) => name !== OTHER)
    .slice(0, MAIL_ROWS)
    .map(({ name, count }) => [labelOf(name), number(count)]);

export function renderWeeklyMail(
  { range, totals, comparison: { previous, delta }, ...lists }: Report | FilteredReport,
  { name, reportUrl, unsubscribeUrl }: WeeklyMailLinks,
): EmailContent {
  const title = `${name}: ${day(range.start)} to ${day(range.end)}`;
  const totalsSection = [
    ['Visitors', number(totals.uniques), change(delta.uniques, previous.uniques)],
    ['Page views', number(totals.pageviews), change(delta.pageviews, previous.pageviews)],
  ] as const;
  const sections: readonly Section[] = [
    ['Pages', rowsOf(lists.pages)],
    ['Referrers', rowsOf(lists.referrers, (origin) => origin.replace(/^https?:\/\//, ''))],
    ['Countries', rowsOf(lists.countries, (code) => countries.of(code) ?? code)],
  ];
  const filled = sections.filter(([, rows]) => rows.length > 0);
  const textOf = ([heading, rows]: Section) =>
    `${heading}\n${rows.map(([what, count]) => `${count.padStart(9)}  ${what}\n`).join('')}\n`;
  const cell = (text: string, style = '') => `<td style="padding:2px 12px 2px 0;${style}">${escapeHtml(text)}</td>`;
  const table = (rows: readonly string[]) => `<table style="border-collapse:collapse">${rows.join('')}</table>`;
  const htmlOf = ([heading, rows]: Section) =>
    `<h2 style="font-size:1em;margin:20px 0 4px">${heading}</h2>` +
    table(rows.map(([what, count]) => `<tr>${cell(count, 'text-align:right')}${cell(what)}</tr>`));
  return {
    subject: `${name}: ${number(totals.uniques)} visitor${totals.uniques === 1 ? '' : 's'} in the week to ${day(range.end)}`,
    text:
      `${title}\n\n` +
      totalsSection.map(([what, count, before]) => `${what}: ${count} (${before})\n`).join('') +
      `\n${filled.map(textOf).join('')}Report: ${reportUrl}\n\n${REASON}\nUnsubscribe: ${unsubscribeUrl}\n`,
    html:
      `<div style="font-family:sans-serif"><h1 style="font-size:1.2em">${escapeHtml(title)}</h1>` +
      table(
        totalsSection.map(
          ([what, count, before]) =>
            `<tr>${cell(what)}${cell(count, 'font-weight:bold;text-align:right')}${cell(before)}</tr>`,
        ),
      ) +
      filled.map(htmlOf).join('') +
      `<p style="margin-top:20px"><a href="${escapeHtml(reportUrl)}">Open the report</a></p>` +
      `<p style="font-size:.85em">${REASON} <a href="${escapeHtml(unsubscribeUrl)}">Unsubscribe</a></p></div>`,
  };
}
