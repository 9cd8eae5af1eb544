/** Relays that know of their audience what was before the feed begins, and keep it for the next start. */
import type { Metrics } from '../../adapters/platform/observability/metrics.js';
import { createRelay, type Relay } from '../../adapters/realtime/relay/relay.js';
import { maxPosition } from '../../application/consistency/index.js';
import type { Logger, RecordedEvent } from '../../application/ports/index.js';
import {
  type Audience,
  createSnapshotKeeper,
  type Feed,
  foldOf,
  type KeepOptions,
  restoreFold,
  runPeriodically,
  type WindowStart,
} from '../../application/subscription/index.js';
import type { DomainEvent } from '../../domain/shared/index.js';
import type { Kernel } from './kernel.js';

export interface RelaysOptions {
  readonly kernel: Pick<
    Kernel,
    'catalogs' | 'follow' | 'log' | 'reveal' | 'snapshots' | 'windows' | 'leases' | 'head' | 'clock'
  >;
  readonly metrics: Metrics;
  /** By service: where the feed begins. Moved on where its audience is not known so early. */
  readonly windows: Map<string, WindowStart>;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

type KeptOf<State> = Pick<KeepOptions<State>, 'service' | 'form' | 'reached' | 'kept' | 'begun'>;

/** How often it is looked whether the next start would need another snapshot. */
const LOOK_EVERY_MS = 1000;
/** So often it is not looked after one was written, which can be of megabytes. What is done meanwhile is read again. */
const LOOKS_LEFT_OUT = 30;

export function createRelays({ kernel, metrics, windows, logger, signal }: RelaysOptions) {
  const { follow, snapshots, leases, head, clock } = kernel;
  const kept: ((feed: Feed) => Promise<void>)[] = [];

  function keep<State>(relay: Relay<State>, of: KeptOf<State>, feed: Feed) {
    const { service } = of;
    const now = () => ({
      state: relay.state(),
      position: maxPosition(relay.position(), feed.resumeFrom(service)),
    });
    const look = createSnapshotKeeper({ ...of, snapshots, windows: kernel.windows, now });
    let leftOut = 0;
    const run = async () => {
      if (leftOut-- > 0) return;
      leftOut = (await look()) ? LOOKS_LEFT_OUT : 0;
    };
    return runPeriodically({
      name: `${service}.audience`,
      everyMs: LOOK_EVERY_MS,
      run,
      leases,
      logger,
      signal,
    });
  }

  return {
    async make<State, Event extends DomainEvent>(
      service: string,
      audience: Audience<State, Event>,
      beatMs?: number,
    ): Promise<Relay<State, Event>> {
      const catalog = kernel.catalogs.find((each) => each.service === service)!;
      const reveal = (event: RecordedEvent) => kernel.reveal(catalog, event);
      const ports = { follow, log: kernel.log, reveal, snapshots, logger, signal };
      const begun = await restoreFold(service, foldOf(audience), windows.get(service)!, ports);
      const { window, kept: read } = begun;
      windows.set(service, window);
      const from = window.horizon;
      const observe = metrics.relay(service);
      const relay = createRelay({ audience, from, seed: begun.state, head, clock, observe, beatMs });
      const { snapshot: form, reached } = audience;
      if (form) kept.push((feed) => keep(relay, { service, form, reached, kept: read, begun }, feed));
      return relay;
    },

    /** Keeps snapshots of all that were made; settle when the signal has stopped it. */
    keep: (feed: Feed): readonly Promise<void>[] => kept.map((begin) => begin(feed)),
  };
}
