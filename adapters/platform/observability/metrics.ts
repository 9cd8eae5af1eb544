/** Prometheus metrics of the process, in its own registry. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Level } from '../../../application/concurrency/index.js';
import type { Cache, Position } from '../../../application/ports/index.js';
import { serviceOf } from '../../../domain/shared/index.js';
import type { ClusterObserver } from '../../cluster/cluster.js';
import type { ResponseRecord } from '../../http/server/app.js';
import type { RelayObserver } from '../../realtime/relay/connections.js';
import { createFastCounter } from './fast-counter.js';

/** Reports an append before its command is answered. */
type OnAppended = (stream: string, position: Position, events: number) => void;

export interface Metrics {
  answered(answered: ResponseRecord): void;
  /** Returns a function that counts appended events, by the service in the stream's name, and passes them on. */
  countAppended(next: OnAppended): OnAppended;
  conflicted(stream: string): void;
  /** Sets the progress of a projection; `lag` in positions. */
  projection(name: string, progress: { readonly position?: bigint; readonly lag?: bigint }): void;
  /** Returns the observer of a service's relay. */
  relay(service: string): RelayObserver;
  /** Returns a counter of ephemeral messages between clients of a service. */
  live(service: string): () => void;
  /** Observer of cluster messages. */
  readonly cluster: ClusterObserver;
  /** Returns gauges of a service's WebSockets; each call is a change of the number. */
  sockets(service: string): { open(change: number): void; slowed(change: number): void };
  /** Counts encrypted data that can never be decrypted and is shown as erased. */
  countUndecryptable(): void;
  /** Sets the source of the number of damaged events; read on each scrape. */
  damaged(count: () => number): void;
  /** Sets the source of the engines' memory use in bytes; read on each scrape. */
  engines(memory: () => ReadonlyMap<string, number>): void;
  /** Counts a side effect (mail, webhook, follow-up command) that is done. */
  reacted(reaction: string): void;
  /** Sets the source of the clock skew: ms ahead of the event store; read on each scrape. */
  clock(ahead: () => number | undefined): void;
  /** Adds a cache, measured on each scrape. */
  cache(cache: Cache): void;
  /** Adds a budget, measured on each scrape. */
  budget(budget: Level): void;
  /** Returns all metrics in the Prometheus text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });

  const requests = new Counter({
    name: 'annals_http_requests_total',
    help: 'HTTP requests answered',
    labelNames: ['service', 'method', 'route', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'annals_http_request_duration_seconds',
    help: 'Time until the response was ready; for event streams, until they opened',
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
    help: 'Appends retried because of a concurrent write',
    labelNames: ['service'],
    registers,
  });
  const positions = new Gauge({
    name: 'annals_projection_position',
    help: 'Log position a projection has reached',
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
  const frames = createFastCounter({
    name: 'annals_relay_frames_total',
    help: 'Frames sent to clients',
    registers,
  });
  const cuts = new Counter({
    name: 'annals_relay_slow_clients_total',
    help: 'Clients disconnected because they did not read',
    labelNames: ['service'],
    registers,
  });
  const open = new Gauge({
    name: 'annals_sockets',
    help: 'Open WebSockets',
    labelNames: ['service'],
    registers,
  });
  const slowed = new Gauge({
    name: 'annals_sockets_slowed',
    help: 'WebSockets whose client is currently rate-limited',
    labelNames: ['service'],
    registers,
  });
  const live = createFastCounter({
    name: 'annals_relay_live_total',
    help: 'Ephemeral messages between clients relayed by this node',
    registers,
  });
  const nodes = new Gauge({
    name: 'annals_mesh_connections',
    help: 'Connections to other nodes',
    registers,
  });
  const clusterSent = new Counter({
    name: 'annals_mesh_said_total',
    help: 'Messages sent to other nodes',
    registers,
  });
  const clusterLost = new Counter({
    name: 'annals_mesh_lost_total',
    help: 'Messages to other nodes that were lost because the node was gone or did not read',
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
    help: 'Encrypted values that can never be decrypted (damaged, or their key is lost), shown as erased',
    registers,
  });

  let damaged: (() => number) | undefined;
  new Gauge({
    name: 'annals_damaged_events',
    help: 'Damaged events that the event store of this process has skipped',
    registers,
    collect() {
      // Unknown for a store in another process; 0 would mean that all is well.
      if (damaged) this.set(damaged());
      else this.remove();
    },
  });

  let engines: () => ReadonlyMap<string, number> = () => new Map();
  new Gauge({
    name: 'annals_engine_memory_bytes',
    help: 'Memory of an embedded engine of this process, without memory-mapped store files',
    labelNames: ['engine'],
    registers,
    collect() {
      // Drops engines that have ended, so that no old value remains.
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
    help: 'Approximate size of a cache in memory',
    labelNames: ['cache'],
    registers,
    collect() {
      for (const { name, bytes } of caches) this.set({ cache: name }, bytes());
    },
  });
  const limits = new Gauge({
    name: 'annals_cache_limit_bytes',
    help: 'Maximum size of a cache',
    labelNames: ['cache'],
    registers,
  });

  const budgets: Level[] = [];
  new Gauge({
    name: 'annals_budget_used',
    help: 'Used part of a budget that all callers share, in bytes or items',
    labelNames: ['budget'],
    registers,
    collect() {
      for (const { name, used } of budgets) this.set({ budget: name }, used());
    },
  });
  const sizes = new Gauge({
    name: 'annals_budget_limit',
    help: 'Size of a budget; one network may use two thirds of it, less while others use it too',
    labelNames: ['budget'],
    registers,
  });

  return {
    answered({ service, method, route, status, ms }) {
      requests.inc({ service, method, route, status: String(status) });
      durations.observe({ service, method, route }, ms / 1000);
    },
    countAppended: (next) => (stream, position, events) => {
      appended.inc({ service: serviceOf(stream) }, events);
      next(stream, position, events);
    },
    conflicted: (stream) => conflicts.inc({ service: serviceOf(stream) }),
    projection(projection, { position, lag }) {
      // Removes unknown values, so that no old value remains.
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
    cluster: {
      connected: (total) => nodes.set(total),
      messageSent: () => clusterSent.inc(),
      messageLost: () => clusterLost.inc(),
    },
    countUndecryptable: () => unopened.inc(),
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
    reacted: (reaction) => reactions.inc({ reaction, outcome: 'done' }),
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
