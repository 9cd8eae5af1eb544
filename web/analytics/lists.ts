/** The lists of a report, a card each; what has a line of its own can be put into the chart. */
import { byId, element, pressed } from '../shared/dom.js';
import type { Report, Trend } from './contract.js';
import { type Cell, csvOf, download } from './csv.js';
import { country, number } from './words.js';

interface Item {
  readonly label: string;
  readonly count: number;
  readonly trend?: Trend | undefined;
}

interface ListOf {
  readonly name: string;
  readonly title: string;
  /** What is counted. */
  readonly counts: string;
  readonly items: (report: Report) => readonly Item[];
  readonly heads: readonly string[];
  readonly rows: (report: Report) => readonly (readonly Cell[])[];
  /** Left out where it is empty: not every site has any. */
  readonly isRare?: true;
}

type Simple = 'pages' | 'events' | 'referrers' | 'browsers' | 'os' | 'devices' | 'countries';

function simple(
  name: Simple,
  title: string,
  counts: string,
  head: string,
  more: Partial<ListOf> = {},
): ListOf {
  return {
    name,
    title,
    counts,
    items: (report) =>
      report[name].map(({ name: label, count }) => ({ label, count, trend: trendOf(report, name, label) })),
    heads: [head, 'count'],
    rows: (report) => report[name].map(({ name: label, count }) => [label, count]),
    ...more,
  };
}

const joined = (...parts: readonly string[]) => parts.filter(Boolean).join(' / ');

const LISTS: readonly ListOf[] = [
  simple('pages', 'Pages', 'Views', 'page'),
  simple('referrers', 'Referrers', 'Hits', 'referrer', {
    items: ({ referrers }) => referrers.map(({ name, count }) => ({ label: siteOf(name), count })),
  }),
  {
    name: 'campaigns',
    title: 'Campaigns',
    counts: 'Hits',
    items: (report) =>
      report.campaigns.map(({ source, medium, campaign, count }) => {
        const label = joined(source, medium, campaign);
        return { label, count, trend: trendOf(report, 'campaigns', label) };
      }),
    heads: ['source', 'medium', 'campaign', 'count'],
    rows: ({ campaigns }) =>
      campaigns.map(({ source, medium, campaign, count }) => [source, medium, campaign, count]),
  },
  simple('events', 'Events', 'Events', 'event'),
  {
    name: 'properties',
    title: 'Properties of events',
    counts: 'Events',
    items: ({ properties }) =>
      properties.map(({ event, property, value, count }) => ({
        label: property === '' ? event : `${event}: ${property} = ${value}`,
        count,
      })),
    heads: ['event', 'property', 'value', 'count'],
    rows: ({ properties }) =>
      properties.map(({ event, property, value, count }) => [event, property, value, count]),
    isRare: true,
  },
  simple('browsers', 'Browsers', 'Hits', 'browser'),
  simple('os', 'Systems', 'Hits', 'os'),
  simple('devices', 'Devices', 'Hits', 'device'),
  simple('countries', 'Countries', 'Hits', 'country', {
    items: ({ countries }) => countries.map(({ name, count }) => ({ label: country(name), count })),
    isRare: true,
  }),
];

/** An origin as people say it. */
export const siteOf = (origin: string) => origin.replace(/^https?:\/\//, '');

const trendOf = ({ trends }: Report, category: string, label: string) =>
  trends.find((trend) => trend.category === category && trend.label === label);

/** Of two reports: whether it is the same line. */
export const isSame = (one: Trend | undefined, other: Trend | undefined): boolean =>
  one !== undefined && one.category === other?.category && one.label === other.label;

/** `choose` is told which line the reader wants in the chart; undefined for none. */
export function createLists(choose: (trend: Trend | undefined) => void) {
  const cards = LISTS.map((list) => ({ list, ...cardOf(list) }));
  byId('lists').replaceChildren(...cards.map(({ card }) => card));

  return (report: Report, chosen: Trend | undefined, fileName: (what: string) => string) => {
    for (const { list, card, body, save } of cards) {
      const items = list.items(report);
      card.hidden = list.isRare === true && items.length === 0;
      save.hidden = items.length === 0;
      save.onclick = () => download(fileName(list.name), csvOf(list.heads, list.rows(report)));
      const most = Math.max(1, ...items.map(({ count }) => count));
      const focused = [...body.querySelectorAll('button')].indexOf(
        document.activeElement as HTMLButtonElement,
      );
      body.replaceChildren(
        ...(items.length > 0
          ? items.map((item) => rowOf(item, most, chosen, choose))
          : [element('li', { className: 'quiet none' }, 'None in this period')]),
      );
      // Counted anew, it stays where it is for who is in it.
      if (focused >= 0) body.querySelectorAll('button')[focused]?.focus();
    }
  };
}

function cardOf({ name, title, counts }: ListOf) {
  const head = `list-${name}`;
  const save = element(
    'button',
    { type: 'button', className: 'small', 'aria-label': `${title} as CSV` },
    'CSV',
  );
  const body = element('ol', { 'aria-labelledby': head });
  const card = element(
    'section',
    { className: 'card', 'aria-labelledby': head },
    element(
      'header',
      {},
      element('h2', { id: head }, title),
      element('span', { className: 'quiet counts' }, counts),
      save,
    ),
    body,
  );
  return { card, body, save };
}

function rowOf(item: Item, most: number, chosen: Trend | undefined, choose: (trend?: Trend) => void) {
  const { label, count, trend } = item;
  const name = element('bdi', { title: label }, label || '(none)');
  const row = element('li', {});
  if (trend) {
    const button = element('button', { type: 'button', className: 'plain', title: 'Show in the chart' });
    pressed(button, isSame(chosen, trend), '');
    button.append(name);
    button.onclick = () => choose(isSame(chosen, trend) ? undefined : trend);
    row.append(button);
  } else row.append(element('span', {}, name));
  row.append(element('span', { className: 'count' }, number(count)));
  row.style.setProperty('--share', `${(100 * count) / most}%`);
  return row;
}
