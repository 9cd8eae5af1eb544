/** Texts of the page, in one place for translation. */
import type { Metric } from './contract.js';
import { number, pluralize } from './formatting.js';

export const texts = {
  title: 'Analytics',
  titleOf: (site: string) => `${site} · Analytics`,
  loading: 'Loading…',
  tryAgain: 'Try again',
  close: 'Close',
  cancel: 'Cancel',
  dismiss: 'Dismiss',
  unreachableStore: (retry: string) => `The service cannot reach its storage. ${retry}`,
  tooManyRequests: (retry: string) => `Too many requests. ${retry}`,
  retryIn: (seconds: number | undefined) => (seconds ? `Try again in ${seconds} s.` : 'Try again in a moment.'),
} as const;

export const signInTexts = {
  ended: 'Your session has ended. Sign in again.',
  badLink: 'This link was used, has expired or was replaced by a newer one. Request a new link.',
  badToken: 'The admin token is wrong.',
  once: 'The link signs you in once.',
  signIn: 'Sign in',
  signInAs: (email: string) => `Sign in as ${email}`,
  linkHint: 'You get a mail with a link that signs you in.',
  email: 'Email',
  mailLink: 'Mail me a link',
  linkNote:
    'The link can be used once, within 15 minutes. If no mail server is configured, it is in the log of the service. Only addresses that the operator has allowed get one, by default none: use the admin token.',
  otherAddress: 'Use another address',
  haveToken: 'I have the admin token',
  token: 'Admin token',
  tokenHint: 'It is in the start-up output or the configuration of the service. It is stored for this tab only.',
} as const;

export const barTexts = {
  site: 'Site',
  allSites: 'All sites',
  sites: 'Sites',
  install: 'Install',
  settings: 'Settings',
  share: 'Share',
  newSite: 'New site',
  account: (name: string) => `Account: ${name}`,
  privacy: 'Privacy',
  signOut: 'Sign out',
} as const;

export const siteTexts = {
  noSite: 'No site yet',
  noSiteHint: 'A site counts the pages of one or more domains together. Create one and put its tag on your pages.',
  createFirst: 'Create the first site',
  create: 'New site',
  change: 'Settings',
  name: 'Name',
  id: 'Id (cannot be changed later)',
  idRule: 'Letters, digits, spaces, _ and -',
  idPlaceholder: 'derived from the name',
  domains: 'Domains, one per line; subdomains are included',
  properties: 'Event properties to count, one per line',
  goals: 'Goals: events whose rate is shown, one per line',
  goalsHint: 'The report shows how many of them there are for 100 visitors.',
  tokenSection: 'Hits sent by servers: ingest token',
  token: 'Ingest token',
  newToken: 'New ingest token',
  tokenUnchanged: 'unchanged',
  tokenNone: 'none',
  removeToken: 'Remove the token',
  tokenHint:
    'If set, hits must carry it as x-analytics-token. The tag on pages does not send it, so its hits are ignored.',
  save: 'Save',
  createNow: 'Create site',
  remove: 'Delete…',
  removeTitle: (name: string) => `Delete ${name}?`,
  removeHint: 'All data of the site becomes unreadable immediately. This cannot be undone.',
  typeToRemove: (id: string) => `Type ${id} to delete it`,
  removeNow: 'Delete permanently',
  removed: (id: string, days: number) => `Site ${id} and ${pluralize(days, 'day')} of its data were deleted.`,
  removedElsewhere: (name: string) => `${name} was deleted.`,
} as const;

export const installTexts = {
  title: 'Install',
  copy: 'Copy',
  copied: 'Copied',
  waiting: 'No recent hits. Open a page with the tag; its view appears here immediately.',
  works: (what: string, time: string) => `It works: received ${what} at ${time}.`,
  ignored: (reason: string) => `Hits arrive but are ignored: ${reason}.`,
  counted: 'counted',
  ignoredFor: (reason: string) => `ignored: ${reason}`,
  attempts: 'Recent hits',
  attemptsHint: 'The last 50, kept in memory until the service restarts.',
  eventOn: (event: string, page: string) => `event ${event} on ${page}`,
  viewOf: (page: string) => `a view of ${page}`,
  tokenSite:
    'This site requires an ingest token: servers send hits to /api/collect with the header x-analytics-token. The tag does not send it.',
  noDomains: 'The site has no domains yet. Add one in the settings, then put this tag on its pages.',
  putTag: (domains: readonly string[]) =>
    `Put this tag on the pages of ${domains.slice(0, 3).join(', ')}${domains.length > 3 ? ', …' : ''}, before </head>.`,
} as const;

export const shareTexts = {
  title: 'Share',
  link: 'Public link',
  linkHint:
    'Whoever has the link sees the reports of this site without signing in: no settings, no live hits, no other site.',
  revokeHint:
    'Whoever has the link sees the reports of this site. Revoking ends it at once; the next link is another one.',
  makeLink: 'Make a link',
  revokeLink: 'Revoke',
  mail: 'Weekly mail',
  mailHint: (email: string) =>
    `Each Monday morning a summary of the week goes to ${email}: visitors, page views, top pages, referrers and countries.`,
  subscribed: (email: string) => `A summary of each week goes to ${email} on Monday morning.`,
  noAddress: 'Sign in by a mailed link to get a summary of each week by mail.',
  subscribe: 'Subscribe',
  unsubscribe: 'Unsubscribe',
  unsubscribeHint: 'This stops the summary of a site that is mailed each Monday.',
  unsubscribeIncomplete: 'This link is incomplete. Open the link in a weekly mail to end the mails of its site.',
  unsubscribed: 'You get no more weekly mails about this site.',
} as const;

/** Why a hit is ignored and what to do about it, by the service's code. */
export function reasonText(code: string | null, host: string | null): string {
  const reasons: { readonly [code: string]: string } = {
    unknown_site: 'no site has this id',
    privacy_signal: 'the browser asks not to be tracked (DNT or GPC)',
    host_not_allowed: `${host ?? 'the host'} is not a domain of the site; add it in the settings`,
    ingest_token_required: 'the ingest token is missing or wrong',
    too_many_hits: 'the network exceeds analytics.hitsPerMinute',
    bot: 'the user agent is a bot',
  };
  return reasons[code ?? ''] ?? code ?? 'unknown reason';
}

export const privacyTexts = {
  title: 'Privacy and retention',
  noCookies: 'No cookies. Addresses and user agents are not stored; visitors are distinguished for one day only.',
  honorsDoNotTrack: 'Visitors whose browser asks not to be tracked (DNT, GPC) are not counted.',
  ignoresDoNotTrack: 'Visitors whose browser asks not to be tracked (DNT, GPC) are counted too.',
  filtersBots: 'Bots that identify themselves are not counted.',
  countsBots: 'Bots are counted like visitors.',
  countries: 'Countries of visitors are counted.',
  noCountries: 'Countries are not counted.',
  retention: (days: number) => `Counts are deleted automatically after ${pluralize(days, 'day')}.`,
  raw: (hours: number) => `Operators of the server can see single hits for ${pluralize(hours, 'hour')}.`,
  cleanUp: 'Clean up now',
  cleaned: (days: number, before: string, raw: number) =>
    `Deleted: ${days > 0 ? pluralize(days, 'day') : 'No data'} from before ${before}${
      raw > 0 ? `, and ${pluralize(raw, 'raw record')}` : ''
    }.`,
} as const;

export const liveTexts = {
  title: 'Now',
  live: 'Live',
  connecting: 'Connecting…',
  none: 'New hits appear here immediately.',
  counts: (pageviews: number, events: number) =>
    `${pluralize(pageviews, 'page view')}${events > 0 ? ` and ${pluralize(events, 'event')}` : ''} in the last 5 minutes`,
  eventOn: (event: string, path: string) => `${event} on ${path}`,
  from: (referrer: string) => `from ${referrer}`,
} as const;

export const METRIC_NAMES: { readonly [metric in Metric]: string } = {
  pageviews: 'Page views',
  uniques: 'Visitors',
  events: 'Events',
};

const METRIC_UNITS: { readonly [metric in Metric]: string } = {
  pageviews: 'page view',
  uniques: 'visitor',
  events: 'event',
};
export const metricText = (count: number, metric: Metric): string => pluralize(count, METRIC_UNITS[metric]);

export const periodTexts = {
  title: 'Period',
  today: 'Today',
  days: (days: number) => pluralize(days, 'day'),
  other: 'Other',
  range: 'Other period',
  from: 'From',
  to: 'To',
  show: 'Show',
  order: 'The last day must not be before the first',
  earlier: 'Earlier period',
  later: 'Later period',
  between: (start: string, end: string) => (start === end ? end : `${start} to ${end}`),
} as const;

export const reportTexts = {
  counting: 'Counting…',
  nothing: 'No hits in this period.',
  totals: 'Totals',
  notKept: 'Not counted with filters',
  wholeDayBefore: (count: string) => `${count} on the whole day before`,
  noEarlier: 'no earlier data',
  incomplete: (previous: string) => `${previous} (incomplete)`,
  percent: (percent: number) => `${number(Math.abs(percent))} %`,
  more: 'more',
  less: 'less',
  previous: (count: number, days: number, isUnfinished = false) =>
    `${count === 0 ? 'none' : number(count)} in the ${isUnfinished ? `first ${days - 1} of the ` : ''}previous ${
      days === 1 ? 'day' : pluralize(days, 'day')
    }`,
  from: (previous: string) => `from ${previous}`,
} as const;

export const chartTexts = {
  by: (what: string, resolution: string) => `${what} by ${resolution}`,
  with: (chart: string, trend: string) => `${chart}, with ${trend}`,
  resolution: 'Resolution',
  resolutions: { hour: 'Hours', day: 'Days', week: 'Weeks', month: 'Months' },
  units: { hour: 'hour', day: 'day', week: 'week', month: 'month' },
  comparison: 'Previous period',
  hideTrend: (label: string) => `Hide ${label}`,
  save: 'Days as CSV',
  highest: (text: string, resolution: string) => `Highest ${resolution === 'hour' ? 'at' : 'on'} ${text}`,
  previously: (value: string, previous: string) => `${value} (previously ${previous})`,
  point: (label: string, isUnfinished: boolean, values: readonly string[]) =>
    `${label}${isUnfinished ? ', so far' : ''}: ${values.join(', ')}`,
  help: 'Days are in UTC.',
  unfinished: 'Dashed parts are incomplete.',
  uniques: 'Visitors are counted anew each day; a period shows the sum of its days.',
  keys: 'The arrow keys go from point to point.',
  table: 'As a table',
  notKept: '–',
  tableLabel: 'Values as a table',
  point1: { hour: 'Hour', day: 'Day', week: 'Week', month: 'Month' },
} as const;

export const listTexts = {
  none: 'None in this period',
  notKept: 'Not counted with filters: properties are counted by event only.',
  filterBy: (label: string) => `Filter by ${label}`,
  noValue: '(none)',
  all: 'Show all',
  allOf: (title: string) => `All: ${title}`,
  csvOf: (title: string) => `${title} as CSV`,
  inChart: (label: string) => `Show ${label} in the chart`,
  search: 'Search',
  noMatch: 'Nothing matches.',
  matches: (count: number) => pluralize(count, 'row'),
  share: (percent: string) => `${percent} %`,
  groups: { pages: 'Pages', sources: 'Sources', devices: 'Visitors', events: 'Events' },
} as const;

export const filterTexts = {
  title: 'Filters',
  remove: (list: string, value: string) => `Remove the filter ${list}: ${value}`,
  removeAll: 'Remove all',
  unlisted: (count: number) =>
    `${pluralize(count, 'hit')} in rare combinations of values cannot be filtered and are not included.`,
} as const;

export const overviewTexts = {
  title: 'All sites',
  open: (name: string) => `Open ${name}`,
  search: 'Search sites',
  noMatch: 'No site has this name or domain.',
} as const;

/** Titles of the lists, and what they count. */
export const listNames = {
  pages: { title: 'Pages', counts: 'Views' },
  entryPages: { title: 'Entry pages', counts: 'Entries' },
  referrers: { title: 'Referrers', counts: 'Views' },
  campaigns: { title: 'Campaigns', counts: 'Hits' },
  events: { title: 'Events', counts: 'Events' },
  goals: { title: 'Goals', counts: 'Rate and events' },
  properties: { title: 'Properties of events', counts: 'Events' },
  browsers: { title: 'Browsers', counts: 'Hits' },
  os: { title: 'Systems', counts: 'Hits' },
  devices: { title: 'Devices', counts: 'Hits' },
  countries: { title: 'Countries', counts: 'Hits' },
} as const;
