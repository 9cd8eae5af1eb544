/** The readiness of this node and the progress of its read models, for the operations port. */
import { HEALTH_MS, withDeadline } from '../../application/concurrency/index.js';
import { type createProjectionProgress, maxPosition } from '../../application/consistency/index.js';
import { type Checkpoints, type Leases, type Position, StoreFullError } from '../../application/ports/index.js';
import type { Feed } from '../../application/subscription/index.js';
import { type Projector, type ProjectorGroup, projectorLease } from '../../projections/kernel/index.js';

const withinHealthDeadline = <T>(call: Promise<T>): Promise<T> => withDeadline(HEALTH_MS, call, 'a store');

export interface StatusPorts {
  readonly kernel: {
    head(): Promise<Position>;
    readonly log: { writable(): Promise<unknown> };
    readonly mongo: { writable(): Promise<unknown> };
    readonly projectionProgress: Pick<
      ReturnType<typeof createProjectionProgress>,
      'caughtUp' | 'position' | 'latestOf'
    >;
    readonly checkpoints: Pick<Checkpoints, 'read'>;
    readonly leases: Pick<Leases, 'holder'>;
    readonly served: { collection(projection: string): string | undefined };
    readonly clock: { inSync(): boolean; skewMs(): number | undefined };
    undecryptableCount(): number;
  };
  readonly groups: readonly (ProjectorGroup & { readonly projector: Projector })[];
  readonly feed: Feed;
  /** How many events the log has skipped, where this process can know it. */
  readonly damaged: (() => number) | undefined;
  /** Names of nodes that can't reach this one. */
  readonly unreachedBy: () => readonly string[];
}

export type NodeStatus = ReturnType<typeof createNodeStatus>;

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail?: string;
}

export function createNodeStatus({ kernel, groups, feed, damaged = () => 0, unreachedBy }: StatusPorts) {
  const check = async (name: string, probe: () => Promise<unknown>): Promise<Check> => {
    try {
      await withinHealthDeadline(probe());
      return { name, ok: true };
    } catch (error) {
      return { name, ok: false, detail: error instanceof StoreFullError ? 'the disk is full' : 'does not answer' };
    }
  };
  return {
    /** Whether the process can work now, with the checks that decide it. */
    async ready() {
      const live = feed.status();
      const checks: Check[] = await Promise.all([
        check('event store', kernel.head),
        check('writing to the event store', kernel.log.writable),
        check('writing to MongoDB', kernel.mongo.writable),
        { name: 'feed', ok: live === 'live', detail: live },
        ...groups.map(async ({ name, projections, projector }): Promise<Check> => {
          const { status } = projector.status();
          // Whichever node projects them, the rows must include what the log held when this node started.
          const caughtUpAll = Promise.all(projections.map((each) => kernel.projectionProgress.caughtUp(each.name)));
          const caughtUp = await withinHealthDeadline(caughtUpAll)
            .then((each) => !each.includes(false))
            .catch(() => false);
          const detail = caughtUp ? status : `${status}, has not caught up with the start of this node`;
          return { name: `projector ${name}`, ok: caughtUp && status !== 'failing', detail };
        }),
      ]);
      const undecryptable = kernel.undecryptableCount();
      if (undecryptable > 0) {
        const detail = `${undecryptable} can't be decrypted and are treated as erased; see the log`;
        checks.push({ name: 'sealed events', ok: true, detail });
      }
      if (damaged() > 0) {
        const detail = `${damaged()} are damaged and skipped; see standard error`;
        checks.push({ name: 'events of the log', ok: true, detail });
      }
      if (unreachedBy().length > 0) {
        const detail = `can't be reached by ${unreachedBy().join(', ')}; check mesh.host and mesh.address`;
        checks.push({ name: 'this node', ok: true, detail });
      }
      if (!kernel.clock.inSync()) {
        const seconds = Math.round((kernel.clock.skewMs() ?? 0) / 1000);
        const skew = `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the event store's`;
        const detail = `${skew}; the event store's clock is used, and nothing expires until they agree`;
        checks.push({ name: "this machine's clock", ok: true, detail });
      }
      return { ok: checks.every(({ ok }) => ok), checks };
    },

    async projections() {
      const head = orUndefined(kernel.head());
      const statuses = groups.flatMap(({ name: group, service, projections, projector }) => {
        const owner = orUndefined(kernel.leases.holder(projectorLease(group)));
        return projections.map(async ({ name, version }) => {
          const collection = kernel.served.collection(name) ?? '';
          const position = await orUndefined(kernel.checkpoints.read(collection).then((at = 0n) => at));
          const { status } = projector.status();
          const target = maxPosition(feed.last(service), kernel.projectionProgress.latestOf(service));
          const pending = atLeastZero(target - kernel.projectionProgress.position(name));
          const lag = status === 'live' ? pending : lagOf(await head, position);
          return { name, version, collection, status, position, lag, owner: await owner };
        });
      });
      return Promise.all(statuses);
    },
  };
}

/** Resolves with undefined if the store fails or does not answer in time. */
const orUndefined = <T>(call: Promise<T>): Promise<T | undefined> => withinHealthDeadline(call).catch(() => undefined);

/** Only for projectors that are not live: the events up to the head may all be of other services. */
const lagOf = (head: bigint | undefined, position: bigint | undefined) =>
  head === undefined || position === undefined ? undefined : head - position;

const atLeastZero = (lag: bigint) => (lag > 0n ? lag : 0n);
