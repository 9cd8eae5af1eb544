/** Creates relays with the restored state of their audience, and saves snapshots of it for the next start. */
import type { Metrics } from '../../adapters/platform/observability/metrics.js';
import { createRelay, type Relay } from '../../adapters/realtime/relay/relay.js';
import { maxPosition } from '../../application/consistency/index.js';
import type { Logger, RecordedEvent } from '../../application/ports/index.js';
import {
  type Audience,
  audienceFold,
  createSnapshotWriter,
  type Feed,
  restoreFold,
  runPeriodically,
  type SnapshotWriterOptions,
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

type SnapshotSource<State> = Pick<SnapshotWriterOptions<State>, 'service' | 'form' | 'cursors' | 'kept' | 'initial'>;

/** Interval of the check whether the next start would need a newer snapshot. */
const CHECK_EVERY_MS = 1000;
/** Checks skipped after a snapshot was written, which can take megabytes. The next start reads the events since. */
const SKIPPED_CHECKS = 30;

export function createRelays({ kernel, metrics, windows, logger, signal }: RelaysOptions) {
  const { follow, snapshots, leases, head, clock } = kernel;
  const snapshotWriters: ((feed: Feed) => Promise<void>)[] = [];

  function writeSnapshots<State>(relay: Relay<State>, source: SnapshotSource<State>, feed: Feed) {
    const { service } = source;
    const currentState = () => ({
      state: relay.state(),
      position: maxPosition(relay.position(), feed.resumeFrom(service)),
    });
    const saveIfNeeded = createSnapshotWriter({ ...source, snapshots, windows: kernel.windows, currentState });
    let skipped = 0;
    const run = async () => {
      if (skipped-- > 0) return;
      skipped = (await saveIfNeeded()) ? SKIPPED_CHECKS : 0;
    };
    return runPeriodically({
      name: `${service}.audience`,
      everyMs: CHECK_EVERY_MS,
      run,
      leases,
      logger,
      signal,
    });
  }

  return {
    async create<State, Event extends DomainEvent>(
      service: string,
      audience: Audience<State, Event>,
      beatMs?: number,
    ): Promise<Relay<State, Event>> {
      const catalog = kernel.catalogs.find((each) => each.service === service)!;
      const decryptEvent = (event: RecordedEvent) => kernel.decryptEvent(catalog, event);
      const ports = { follow, log: kernel.log, decryptEvent, snapshots, logger, signal };
      const restored = await restoreFold(service, audienceFold(audience), windows.get(service)!, ports);
      const { window, kept: savedSize } = restored;
      windows.set(service, window);
      const from = window.horizon;
      const observe = metrics.relay(service);
      const relay = createRelay({ audience, from, seed: restored.state, head, clock, observe, beatMs });
      const { snapshot: form, cursors } = audience;
      if (form) {
        const source = { service, form, cursors, kept: savedSize, initial: restored };
        snapshotWriters.push((feed) => writeSnapshots(relay, source, feed));
      }
      return relay;
    },

    /** Saves snapshots of all created relays in the background; settles after abort. */
    saveSnapshots: (feed: Feed): readonly Promise<void>[] => snapshotWriters.map((start) => start(feed)),
  };
}
