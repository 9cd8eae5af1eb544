/** All texts of the page. */
import type { ReindexRun } from './contract.js';
import { formatCount, formatDuration, formatNumber } from './format.js';

export const texts = {
  title: 'Console',
  nav: {
    label: 'Views',
    overview: 'Overview',
    models: 'Read models',
    events: 'Events',
    leases: 'Leases',
    signOut: 'Forget the token',
  },
  signIn: {
    title: 'Operations console',
    token: 'Operations token',
    hint: 'The setting operations.token. Without one, only the machine itself has access.',
    submit: 'Sign in',
    wrong: 'The token is wrong.',
  },
  stale: 'This node does not answer; what is shown may be out of date.',
  overview: {
    ready: 'Ready',
    notReady: 'Not ready',
    uptime: (seconds: number) => `up ${formatDuration(seconds)}`,
    release: (release: string) => `Annals ${release}`,
    checks: (ok: number, all: number) => `${ok} of ${all} checks passed`,
    services: 'Services',
    nodes: 'Nodes',
    thisNode: 'this node',
    leases: (count: number) => (count === 1 ? 'one lease' : `${formatCount(count)} leases`),
    stores: 'Stores',
    engine: 'Engine',
    memory: 'Memory',
    onDisk: 'On disk',
    disk: (free: string, size: string) => `${free} of ${size} free on the disk`,
    unknown: '–',
    audit: 'Transparency log',
    auditSize: (size: string) => `${formatCount(size)} entries signed`,
    auditNone: 'No checkpoint is signed yet.',
    auditOrigin: 'Origin',
    auditRoot: 'Root',
    errors: 'Recent warnings and errors',
    noErrors: 'None since the start of this process.',
    warning: 'Warning',
    error: 'Error',
  },
  charts: {
    title: 'Activity of the last hour',
    since: (time: string) => `Activity since ${time}`,
    requests: 'Requests per second',
    latency: 'Latency, 95 % below (ms)',
    events: 'Events per second',
    failures: 'Failed requests',
    now: (value: number | undefined) => (value === undefined ? '–' : formatNumber(value)),
    label: (name: string, now: string, most: string) => `${name}: last ${now}, highest ${most}`,
    most: (most: string) => `highest ${most}`,
    at: (time: string, value: number | undefined) => `${time}: ${value === undefined ? '–' : formatNumber(value)}`,
    empty: 'No requests and no events until ten seconds ago.',
  },
  models: {
    filter: 'Filter by name',
    name: 'Read model',
    status: 'Status',
    position: 'Position',
    lag: 'Lag',
    owner: 'Projected by',
    actions: 'Actions',
    actionsOf: (name: string) => `Actions for ${name}`,
    rebuild: 'Rebuild…',
    check: 'Check',
    confirmTitle: (name: string) => `Rebuild ${name}?`,
    confirmText:
      'It is built from the whole log beside the served one, which answers queries until the switch. This takes ' +
      'processor time of this node.',
    confirm: 'Rebuild',
    none: 'No read model has that name.',
    run: describeRun,
    progress: (name: string) => `Progress of ${name}`,
  },
  events: {
    service: 'Service',
    any: 'All',
    type: 'Event type',
    stream: 'Stream',
    show: 'Show',
    none: 'No event matches',
    scanned: (count: number) => `${formatCount(count)} events were looked at.`,
    older: 'Older events',
    list: 'Events, the newest first',
    stored: 'As it is stored; sealed parts stay sealed.',
    json: 'Event as JSON',
    related: 'Causes and effects',
    relatedHint: (count: number, isComplete: boolean) =>
      isComplete
        ? 'Events of the same request, each below the one that caused it.'
        : `Events of the same request among ${formatCount(count)} around this one; annals replay --correlation … ` +
          '--format tree searches the whole log.',
    loading: 'Reading the log…',
  },
  leases: {
    name: 'Lease',
    owner: 'Held by',
    none: 'No lease is held.',
    hint: 'A lease lets one node at a time do a job; another takes over within seconds when it ends.',
  },
} as const;

function describeRun({ kind, state, events, differences, error }: ReindexRun): string {
  if (state === 'failed') return error ?? 'Failed.';
  const read = events === 1 ? 'one event' : `${formatCount(events)} events`;
  if (state === 'running') return kind === 'check' ? `Checking, ${read} read` : `Rebuilding, ${read} read`;
  if (kind === 'rebuild') return `Rebuilt from ${read}`;
  if (differences === 0) return `Equals its rebuild from ${read}`;
  const rows = differences === 1 ? 'One row differs' : `${formatCount(differences ?? 0)} rows differ`;
  return `${rows} from a rebuild; annals reindex --check says which`;
}
