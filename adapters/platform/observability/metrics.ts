/** What the process counts and measures, for Prometheus; a registry of its own, nothing global. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Level } from '../../../application/concurrency/index.js';
import type { Cache } from '../../../application/ports/index.js';
import { serviceOf } from '../../../domain/shared/index.js';
import type { ClusterObserver } from '../../cluster/cluster.js';
import type { Answered } from '../../http/server/app.js';
import type { RelayObserver } from '../../realtime/relay/connections.js';
import { createTally } from './fast-counter.js';

export interface Metrics {
  answered(answered: Answered): void;
  /** The stream says which service. */
  appended(stream: string, events: number): void;
  conflicted(stream: string): void;
  /** How far a projection is; `lag` in the unit of positions. */
  projection(name: string, progress: { readonly position?: bigint; readonly lag?: bigint }): void;
  /** For the relay of a service. */
  relay(service: string): RelayObserver;
  /** Something that one client of a service tells another was relayed, and is in no log. */
  live(service: string): () => void;
  /** For what the nodes tell each other. */
  readonly mesh: ClusterObserver;
  /** WebSockets of a service, told of each change of their number. */
  sockets(service: string): { open(change: number): void; slowed(change: number): void };
  /** Something sealed can never be opened again, and is shown as erased. */
  unopened(): void;
  /** How many events the event store left out, for they are damaged; asked for whenever the metrics are. */
  damaged(count: () => number): void;
  /** What each engine of this process takes of memory, in bytes; asked for whenever the metrics are. */
  engines(memory: () => ReadonlyMap<string, number>): void;
  /** A side effect (mail, webhook, follow-up command) was done, or failed and will be tried again. */
  reacted(reaction: string, outcome: 'done' | 'failed'): void;
  /** How far the machine's clock is ahead of the event store's, in ms; asked for whenever the metrics are. */
  clock(ahead: () => number | undefined): void;
  /** What it holds is measured whenever it is asked for. */
  cache(cache: Cache): void;
  /** What is taken of it is measured whenever it is asked for. */
  budget(budget: Level): void;
  /** Of everything above and the process, in Prometheus' text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const requests = new Counter({
    name: 'annals_http_requests_total',
    help: 'Requests answered',
    labelNames: ['service', 'method', 'route', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'annals_http_request_duration_seconds',
    help: 'Time until the answer was ready; of event streams, until they opened',
    labelNames: ['service', 'method', 'route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  });
  const appended = new Counter({
    name: 'annals_events_appended_total',
    help: 'Events appended to the log by this process',
    labelNames: ['service'],
    registers,
  });
  const conflicts = new Counter({
    name: 'annals_append_conflicts_total',
    help: 'Appends decided again because somebody else was first',
    labelNames: ['service'],
    registers,
  });
  const positions = new Gauge({
    name: 'annals_projection_position',
    help: 'Position in the log up to which a projection is',
    labelNames: ['projection'],
    registers,
  });
  const lags = new Gauge({
    name: 'annals_projection_lag',
    help: 'Distance of a projection from the head of the log, in positions',
    labelNames: ['projection'],
    registers,
  });
  const connections = new Gauge({
    name: 'annals_relay_connections',
    help: 'Open event streams and sockets',
    labelNames: ['service'],
    registers,
  });
  const frames = createTally({
    name: 'annals_relay_frames_total',
    help: 'Frames handed to clients',
    registers,
  });
  const cuts = new Counter({
    name: 'annals_relay_slow_clients_total',
    help: 'Clients cut because they did not read',
    labelNames: ['service'],
    registers,
  });
  const open = new Gauge({
    name: 'annals_sockets',
    help: 'WebSockets that are open',
    labelNames: ['service'],
    registers,
  });
  const slowed = new Gauge({
    name: 'annals_sockets_slowed',
    help: 'WebSockets whose client waits until it may change or say something more',
    labelNames: ['service'],
    registers,
  });
  const live = createTally({
    name: 'annals_relay_live_total',
    help: 'What one client told another through this node, and was in no log',
    registers,
  });
  const nodes = new Gauge({
    name: 'annals_mesh_connections',
    help: 'Other nodes that this one is connected to',
    registers,
  });
  const clusterSent = new Counter({
    name: 'annals_mesh_said_total',
    help: 'What this node said to others, and was in no log',
    registers,
  });
  const clusterLost = new Counter({
    name: 'annals_mesh_lost_total',
    help: 'What of that was lost: the other node had gone, or took nothing',
    registers,
  });
  const reactions = new Counter({
    name: 'annals_reactions_total',
    help: 'Side effects by outcome',
    labelNames: ['reaction', 'outcome'],
    registers,
  });
  const unopened = new Counter({
    name: 'annals_unopened_total',
    help: 'Sealed things that can never be opened (damaged, or their key is lost), shown as erased',
    registers,
  });

  let damaged: (() => number) | undefined;
  new Gauge({
    name: 'annals_damaged_events',
    help: 'Events that the event store of this process has met and left out, for they are damaged',
    registers,
    collect() {
      // Of a store of another process it is not known: 0 would say that all is well.
      if (damaged) this.set(damaged());
      else this.remove();
    },
  });

  let engines: () => ReadonlyMap<string, number> = () => new Map();
  new Gauge({
    name: 'annals_engine_memory_bytes',
    help: 'What an embedded engine of this process takes of memory, without what it maps of the file of its store',
    labelNames: ['engine'],
    registers,
    collect() {
      // Of one that has gone an old figure would look like a new one.
      this.reset();
      for (const [engine, bytes] of engines()) this.set({ engine }, bytes);
    },
  });

  let aheadMs: () => number | undefined = () => undefined;
  new Gauge({
    name: 'annals_clock_ahead_seconds',
    help: "How far this machine's clock is ahead of the event store's; negative when it is behind",
    registers,
    collect() {
      this.set((aheadMs() ?? 0) / 1000);
    },
  });

  const caches: Cache[] = [];
  new Gauge({
    name: 'annals_cache_bytes',
    help: 'What is held in memory to be quick, as far as that can be told',
    labelNames: ['cache'],
    registers,
    collect() {
      for (const { name, bytes } of caches) this.set({ cache: name }, bytes());
    },
  });
  const limits = new Gauge({
    name: 'annals_cache_limit_bytes',
    help: 'What it may hold at most',
    labelNames: ['cache'],
    registers,
  });

  const budgets: Level[] = [];
  new Gauge({
    name: 'annals_budget_used',
    help: 'What is taken of a budget that all callers share, in bytes or in pieces',
    labelNames: ['budget'],
    registers,
    collect() {
      for (const { name, used } of budgets) this.set({ budget: name }, used());
    },
  });
  const sizes = new Gauge({
    name: 'annals_budget_limit',
    help: 'How large it is; one network has two thirds of it, or less while others are there',
    labelNames: ['budget'],
    registers,
  });

  return {
    answered({ service, method, route, status, ms }) {
      requests.inc({ service, method, route, status: String(status) });
      durations.observe({ service, method, route }, ms / 1000);
    },
    appended: (stream, events) => appended.inc({ service: serviceOf(stream) }, events),
    conflicted: (stream) => conflicts.inc({ service: serviceOf(stream) }),
    projection(projection, { position, lag }) {
      // What can't be asked now is left out: an old figure would look like a new one.
      if (position === undefined) positions.remove({ projection });
      else positions.set({ projection }, Number(position));
      if (lag === undefined) lags.remove({ projection });
      else lags.set({ projection }, Number(lag));
    },
    relay: (service) => ({
      connected: (total) => connections.set({ service }, total),
      sent: frames(service),
      cut: () => cuts.inc({ service }),
    }),
    live,
    sockets: (service) => ({
      open: (change) => open.inc({ service }, change),
      slowed: (change) => slowed.inc({ service }, change),
    }),
    mesh: {
      connected: (total) => nodes.set(total),
      messageSent: () => clusterSent.inc(),
      messageLost: () => clusterLost.inc(),
    },
    unopened: () => unopened.inc(),
    damaged(count) {
      damaged = count;
    },
    engines(memory) {
      engines = memory;
    },
    clock(ahead) {
      aheadMs = ahead;
    },
    cache(cache) {
      caches.push(cache);
      limits.set({ cache: cache.name }, cache.limitBytes);
    },
    budget(budget) {
      budgets.push(budget);
      sizes.set({ budget: budget.name }, budget.limit);
    },
    reacted: (reaction, outcome) => reactions.inc({ reaction, outcome }),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
