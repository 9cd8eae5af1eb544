/** Creates relays with the restored state of their audience, and saves snapshots of it for the next start. */
import type { Metrics } from '../../adapters/platform/observability/metrics.js';
import { createRelay, type Relay } from '../../adapters/realtime/relay/relay.js';
import type { Logger, RecordedEvent } from '../../application/ports/index.js';
import {
  type Audience,
  audienceFold,
  type Feed,
  restoreFold,
  runSnapshotWriter,
  type WindowStart,
} from '../../application/subscription/index.js';
import type { DomainEvent } from '../../domain/shared/index.js';
import type { Kernel } from './kernel.js';

export interface RelaysOptions {
  readonly kernel: Pick<
    Kernel,
    'catalogs' | 'follow' | 'log' | 'decryptEvent' | 'snapshots' | 'windows' | 'leases' | 'head' | 'clock'
  >;
  readonly metrics: Metrics;
  /** By service: where the feed starts. Advanced where the audience can't be restored from that early. */
  readonly windows: Map<string, WindowStart>;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

export function createRelays({ kernel, metrics, windows, logger, signal }: RelaysOptions) {
  const { follow, log, snapshots, leases, head, clock } = kernel;
  const snapshotWriters: ((feed: Feed) => Promise<void>)[] = [];

  return {
    async create<State, Event extends DomainEvent>(
      service: string,
      audience: Audience<State, Event>,
      beatMs?: number,
    ): Promise<Relay<State, Event>> {
      const catalog = kernel.catalogs.find((each) => each.service === service)!;
      const decryptEvent = (event: RecordedEvent) => kernel.decryptEvent(catalog, event);
      const ports = { follow, log, decryptEvent, snapshots, logger, signal };
      const restored = await restoreFold(service, audienceFold(audience), windows.get(service)!, ports);
      const { window, state: seed, size } = restored;
      windows.set(service, window);
      const observe = metrics.relay(service);
      const relay = createRelay({ audience, from: window.horizon, seed, head, clock, observe, beatMs });
      const { snapshot: form, cursors } = audience;
      if (form) {
        const source = { service, form, cursors, size, initial: restored, relay, snapshots, windows: kernel.windows };
        snapshotWriters.push((feed) => runSnapshotWriter({ ...source, feed, leases, logger, signal }));
      }
      return relay;
    },

    /** Saves snapshots of all created relays in the background; settles after abort. */
    saveSnapshots: (feed: Feed): readonly Promise<void>[] => snapshotWriters.map((start) => start(feed)),
  };
}
