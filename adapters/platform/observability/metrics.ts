/** Prometheus metrics of the process, in its own registry. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Level } from '../../../application/concurrency/index.js';
import type { Cache, Position } from '../../../application/ports/index.js';
import { serviceOf } from '../../../domain/shared/index.js';
import type { ClusterObserver } from '../../cluster/cluster.js';
import type { ResponseRecord } from '../../http/server/http-server.js';
import type { RelayObserver } from '../../realtime/relay/connections.js';
import { createActivity } from './activity.js';

type Progress = bigint | undefined;

/** Reports an append before its command is answered. */
type OnAppended = (stream: string, position: Position, events: number) => void;

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
  const registry = new Registry();
  const activity = createActivity();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge({ name, help, labelNames, registers });
  /** A gauge that is measured on each scrape. */
  const measured = <Label extends string>(
    measure: (gauge: Gauge<Label>) => void,
    name: string,
    help: string,
    ...labelNames: Label[]
  ) =>
    new Gauge<Label>({
      name,
      help,
      labelNames,
      registers,
      collect() {
        measure(this);
      },
    });

  const requests = counter(
    'annals_http_requests_total',
    'HTTP requests answered',
    'service',
    'method',
    'route',
    'status',
  );
  const durations = new Histogram({
    name: 'annals_http_request_duration_seconds',
    help: 'Time until the response was ready; for event streams, until they opened',
    labelNames: ['service', 'method', 'route'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers,
  });
  const appended = counter('annals_events_appended_total', 'Events appended to the log by this process', 'service');
  const conflicts = counter(
    'annals_append_conflicts_total',
    'Appends retried because of a concurrent write',
    'service',
  );
  const positions = gauge('annals_projection_position', 'Log position a projection has reached', 'projection');
  const lags = gauge(
    'annals_projection_lag',
    'Distance of a projection from the head of the log, in positions',
    'projection',
  );
  const connections = gauge('annals_relay_connections', 'Open event streams and sockets', 'service');
  const frames = createFastCounter('annals_relay_frames_total', 'Frames sent to clients', registry);
  const cuts = counter('annals_relay_slow_clients_total', 'Clients disconnected because they did not read', 'service');
  const open = gauge('annals_sockets', 'Open WebSockets', 'service');
  const slowed = gauge('annals_sockets_slowed', 'WebSockets whose client is currently rate-limited', 'service');
  const live = createFastCounter(
    'annals_relay_live_total',
    'Ephemeral messages between clients relayed by this node',
    registry,
  );
  const nodes = gauge('annals_mesh_connections', 'Connections to other nodes');
  const clusterSent = counter('annals_mesh_said_total', 'Messages sent to other nodes');
  const clusterDropped = counter(
    'annals_mesh_lost_total',
    'Messages to other nodes that were lost because the node was gone or did not read',
  );
  const reactions = counter('annals_reactions_total', 'Side effects by outcome', 'reaction', 'outcome');
  const unopened = counter(
    'annals_unopened_total',
    'Encrypted values that can never be decrypted (damaged, or their key is lost), shown as erased',
  );

  let errorCount = () => 0;
  new Counter({
    name: 'annals_errors_logged_total',
    help: 'Lines of level error in the log of this process',
    registers,
    collect() {
      this.reset();
      this.inc(errorCount());
    },
  });

  let damaged: (() => number) | undefined;
  measured(
    // Unknown for a store in another process; 0 would mean that all is well.
    (gauge) => (damaged ? gauge.set(damaged()) : gauge.remove()),
    'annals_damaged_events',
    'Damaged events that the event store of this process has skipped',
  );

  let engines: () => ReadonlyMap<string, number> = () => new Map();
  measured(
    (gauge) => {
      // Drops engines that have ended, so that no old value remains.
      gauge.reset();
      for (const [engine, bytes] of engines()) gauge.set({ engine }, bytes);
    },
    'annals_engine_memory_bytes',
    'Memory of an embedded engine of this process, without memory-mapped store files',
    'engine',
  );

  let aheadMs: () => number | undefined = () => undefined;
  measured(
    (gauge) => gauge.set((aheadMs() ?? 0) / 1000),
    'annals_clock_ahead_seconds',
    "How far this machine's clock is ahead of the event store's; negative when it is behind",
  );

  const caches: Cache[] = [];
  measured(
    (gauge) => {
      for (const { name, bytes } of caches) gauge.set({ cache: name }, bytes());
    },
    'annals_cache_bytes',
    'Approximate size of a cache in memory',
    'cache',
  );
  const limits = gauge('annals_cache_limit_bytes', 'Maximum size of a cache', 'cache');

  const budgets: Level[] = [];
  measured(
    (gauge) => {
      for (const { name, used } of budgets) gauge.set({ budget: name }, used());
    },
    'annals_budget_used',
    'Used part of a budget that all callers share, in bytes or items',
    'budget',
  );
  const sizes = gauge(
    'annals_budget_limit',
    'Size of a budget; one network may use two thirds of it, less while others use it too',
    'budget',
  );

  return {
    answered({ service, method, route, status, ms }: ResponseRecord): void {
      requests.inc({ service, method, route, status: String(status) });
      durations.observe({ service, method, route }, ms / 1000);
      // Its own requests would hide when a server is idle.
      if (service !== 'operations') activity.answered(status, ms);
    },
    /** Returns a function that counts appended events, by the service in the stream's name, and passes them on. */
    countAppended:
      (next: OnAppended): OnAppended =>
      (stream, position, events) => {
        appended.inc({ service: serviceOf(stream) }, events);
        activity.appended(events);
        next(stream, position, events);
      },
    conflicted: (stream: string): void => conflicts.inc({ service: serviceOf(stream) }),
    /** Sets the progress of a projection; `lag` in positions. Removes unknown values, so that no old value remains. */
    projection(projection: string, { position, lag }: { readonly position?: Progress; readonly lag?: Progress }): void {
      if (position === undefined) positions.remove({ projection });
      else positions.set({ projection }, Number(position));
      if (lag === undefined) lags.remove({ projection });
      else lags.set({ projection }, Number(lag));
    },
    /** Returns the observer of a service's relay. */
    relay: (service: string): RelayObserver => ({
      connected: (total) => connections.set({ service }, total),
      sent: frames(service),
      cut: () => cuts.inc({ service }),
    }),
    /** Returns a counter of ephemeral messages between clients of a service. */
    live,
    /** Returns gauges of a service's WebSockets; each call is a change of the number. */
    sockets: (service: string) => ({
      open: (change: number): void => open.inc({ service }, change),
      slowed: (change: number): void => slowed.inc({ service }, change),
    }),
    /** Observer of cluster messages. */
    cluster: {
      connected: (total: number) => nodes.set(total),
      messageSent: () => clusterSent.inc(),
      messageLost: () => clusterDropped.inc(),
    } satisfies ClusterObserver,
    /** Counts encrypted data that can never be decrypted and is shown as erased. */
    countUndecryptable: (): void => unopened.inc(),
    /** Sets the source of the number of logged errors; read on each scrape. */
    errors(count: () => number): void {
      errorCount = count;
    },
    /** Sets the source of the number of damaged events; read on each scrape. */
    damaged(count: () => number): void {
      damaged = count;
    },
    /** Sets the source of the engines' memory use in bytes; read on each scrape. */
    engines(memory: () => ReadonlyMap<string, number>): void {
      engines = memory;
    },
    /** Sets the source of the clock skew: ms ahead of the event store; read on each scrape. */
    clock(ahead: () => number | undefined): void {
      aheadMs = ahead;
    },
    /** Adds a cache, measured on each scrape. */
    cache(cache: Cache): void {
      caches.push(cache);
      limits.set({ cache: cache.name }, cache.limitBytes);
    },
    /** Adds a budget, measured on each scrape. */
    budget(budget: Level): void {
      budgets.push(budget);
      sizes.set({ budget: budget.name }, budget.limit);
    },
    /** Counts a side effect (mail, webhook, follow-up command) that is done. */
    reacted: (reaction: string): void => reactions.inc({ reaction, outcome: 'done' }),
    /** Returns requests and events of the last hour. */
    activity: activity.list,
    /** Returns all metrics in the Prometheus text format. */
    text: (): Promise<string> => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** Creates a counter by service for frequent events: adds up outside of the library, where labels cost ten times as much. */
export function createFastCounter(name: string, help: string, registry: Registry) {
  const pending = new Map<string, number>();
  new Counter({
    name,
    help,
    labelNames: ['service'],
    registers: [registry],
    collect() {
      for (const [service, count] of pending) this.inc({ service }, count);
      pending.clear();
    },
  });
  return (service: string) =>
    (count = 1): void =>
      void pending.set(service, (pending.get(service) ?? 0) + count);
}
