/** The interface of a service to the program: plain objects that are connected and run (docs/guide/services.md). */
import type { ServicePolicy } from '../../adapters/http/server/policy.js';
import type { Route } from '../../adapters/http/server/route.js';
import type { Metrics } from '../../adapters/platform/observability/metrics.js';
import type { Relay } from '../../adapters/realtime/relay/relay.js';
import type { ThingKind } from '../../application/audit/index.js';
import type { Cluster, Logger, Position } from '../../application/ports/index.js';
import type {
  AnyReaction,
  Audience,
  EventHandler,
  EventPreparation,
  LiveEvent,
} from '../../application/subscription/index.js';
import type { Catalog, DomainEvent } from '../../domain/shared/index.js';
import type { ReadModel } from '../../projections/kernel/index.js';
import type { AnnalsValues } from '../settings.js';
import type { Kernel } from './kernel.js';

/** What commands need of a service. */
export interface ServiceDefinition<C extends Catalog = Catalog> {
  /** One word. */
  readonly name: string;
  readonly catalog: C;
  readonly projections: readonly ReadModel[];
  /** Things whose past states can be shown. */
  readonly things?: readonly ThingKind[];
}

export interface Service<C extends Catalog = Catalog> extends ServiceDefinition<C> {
  port(values: AnnalsValues): number;
  connect(context: ServiceContext): RunningService<C> | Promise<RunningService<C>>;
}

export interface ServiceContext {
  readonly kernel: Kernel;
  readonly values: AnnalsValues;
  readonly release: string;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Address of the service; as configured until it listens, possibly on any free port. */
  readonly url: () => string;
  /** Aborted when the process stops; ends all background work. */
  readonly signal: AbortSignal;
  /** All events of the service after this position are published, so streams can resume from here. */
  readonly horizon: Position;
  /**
   * Creates the service's relay, with the current state of its audience. Call once.
   *
   * @param beatMs Interval of keepalives, where clients are promised another than the default.
   */
  relay<State, Event extends DomainEvent>(
    audience: Audience<State, Event>,
    beatMs?: number,
  ): Promise<Relay<State, Event>>;
  /** Opens a channel to the same service on other nodes. The cluster port opens on the first call. */
  openCluster(): Promise<Cluster>;
}

export interface RunningService<C extends Catalog = Catalog> {
  readonly policy: ServicePolicy;
  /** For the start-up output: how callers sign in, or what is open to everyone. */
  readonly signIn: string;
  /** Default: `signIn`. Shorter, for the start table of a terminal. */
  readonly signInSummary?: string;
  readonly routes: readonly Route[];
  /** Handlers of the service's events in the live feed. */
  readonly handlers: readonly EventHandler<LiveEvent<C>>[];
  /** What the handlers need to have been read. */
  readonly prepare?: EventPreparation<LiveEvent<C>>;
  /** Creates what must exist before requests are served. All nodes run it at their start, possibly concurrently. */
  start?(): Promise<void>;
  readonly reactions: readonly AnyReaction[];
  readonly periodic: readonly Periodic[];
  bufferedBytes(): number;
  /** Ends all streams and asks their clients to reconnect. */
  close(): void;
}

export interface Periodic {
  /** `<service>.<what>`. */
  readonly name: string;
  readonly everyMs: number;
  /** While it returns false, another node runs the job. */
  readonly mayRun?: () => boolean;
  run(stop: AbortSignal): Promise<void>;
}

/** The relay's part of a running service. */
export const relayMembers = <State, Event extends DomainEvent>(
  relay: Relay<State, Event>,
): Pick<RunningService, 'bufferedBytes' | 'close' | 'handlers'> => ({
  handlers: [relay.publish],
  bufferedBytes: relay.bufferedBytes,
  close: relay.close,
});
