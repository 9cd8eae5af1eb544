/** What a service is to the program: its parts as plain objects, to be connected and run (docs/guide/services.md). */
import type { ServicePolicy } from '../../adapters/http/server/policy.js';
import type { Route } from '../../adapters/http/server/route.js';
import type { Metrics } from '../../adapters/platform/observability/metrics.js';
import type { Relay } from '../../adapters/realtime/relay/relay.js';
import type { Cluster, Logger, Position } from '../../application/ports/index.js';
import type { AnyReaction, Audience, LiveEvent } from '../../application/subscription/index.js';
import type { Catalog, DomainEvent } from '../../domain/shared/index.js';
import type { Projector, ProjectorGroup, ReadModel } from '../../projections/kernel/index.js';
import type { AnnalsValues } from '../settings.js';
import type { Kernel } from './kernel.js';

export interface Service<C extends Catalog = Catalog> {
  /** Its one word. */
  readonly name: string;
  readonly catalog: C;
  readonly projections: readonly ReadModel[];
  port(values: AnnalsValues): number;
  connect(context: ServiceContext): RunningService<C> | Promise<RunningService<C>>;
}

export interface ServiceContext {
  readonly kernel: Kernel;
  readonly values: AnnalsValues;
  readonly release: string;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Where the service listens; as configured until it is up, which may be on any free port. */
  readonly url: () => string;
  /** Aborted when the process stops: ends what goes on in the background. */
  readonly signal: AbortSignal;
  /** Every event of the service after this position will be published: streams can be resumed from here on. */
  readonly horizon: Position;
  /** Makes the service's relay, once: what its audience had come to by then is known to it. Streams show
   * every `beatMs` that they live, where the usual is not promised. */
  relay<State, Event extends DomainEvent>(
    audience: Audience<State, Event>,
    beatMs?: number,
  ): Promise<Relay<State, Event>>;
  /** Speaks with the same service on other nodes, once; where none does, the process has no port for it. */
  mesh(): Promise<Cluster>;
}

export interface RunningService<C extends Catalog = Catalog> {
  readonly policy: ServicePolicy;
  /** For the start-up output: how callers sign in, or that everybody may do what. */
  readonly signIn: string;
  readonly routes: readonly Route[];
  /** Takes every event of the service, in log order; must not wait for anything. */
  publish(event: LiveEvent<C>): void;
  /** Settles what must be there before anybody is served; every node does it at its start, perhaps at once. */
  start?(): Promise<void>;
  readonly reactions: readonly AnyReaction[];
  readonly periodic: readonly Periodic[];
  /** What its relay keeps for clients that come back, in bytes. */
  kept(): number;
  /** Tells all streams to come back. */
  close(): void;
}

export interface Periodic {
  /** `<service>.<what>`. */
  readonly name: string;
  readonly everyMs: number;
  /** While it says no, another node does it. */
  readonly mayRun?: () => boolean;
  run(stop: AbortSignal): Promise<void>;
}

/** The relay's part of a running service. */
export const relayed = <State, Event extends DomainEvent>(
  relay: Relay<State, Event>,
): Pick<Relay<State, Event>, 'publish' | 'kept' | 'close'> => ({
  publish: relay.publish,
  kept: relay.kept,
  close: relay.close,
});

/** Some of a service's read models, and the loop that keeps them up. */
export interface RunningGroup extends ProjectorGroup {
  readonly projector: Projector;
}

/** A service as this process runs it. */
export interface Part {
  readonly service: Service;
  readonly connected: RunningService;
  readonly projectors: readonly RunningGroup[];
  /** Reactions and periodic work; settle when the signal has stopped them. */
  readonly background: readonly Promise<void>[];
}
