/** What the operations port tells of this node: whether it can work, and how far its read models are. */
import type { Check, ProjectionStatus, Status } from '../../adapters/http/operations.js';
import { HEALTH_MS, withDeadline } from '../../application/concurrency/index.js';
import { maxPosition } from '../../application/consistency/index.js';
import { StoreFullError } from '../../application/ports/index.js';
import type { Feed } from '../../application/subscription/index.js';
import { projectorLease } from '../../projections/kernel/index.js';
import type { Kernel } from './kernel.js';
import type { Part } from './service.js';

const inTime = <T>(asked: Promise<T>): Promise<T> => withDeadline(HEALTH_MS, asked, 'a store');

/** `damaged`: how many events the log has left out, where that can be known; `unreachedBy`: nodes that can't reach this one. */
export function statusOf(
  kernel: Kernel,
  parts: readonly Part[],
  feed: Feed,
  damaged: () => number = () => 0,
  unreachedBy: () => readonly string[] = () => [],
): Status {
  const check = async (name: string, ask: () => Promise<unknown>): Promise<Check> => {
    try {
      await inTime(ask());
      return { name, ok: true };
    } catch (error) {
      return {
        name,
        ok: false,
        detail: error instanceof StoreFullError ? 'the disk is full' : 'does not answer',
      };
    }
  };
  const groups = parts.flatMap(({ projectors }) => projectors);
  return {
    async ready() {
      const live = feed.status();
      const checks = await Promise.all([
        check('event store', kernel.head),
        check('writing to the event store', kernel.log.writable),
        check('writing to MongoDB', kernel.mongo.writable),
        { name: 'feed', ok: live === 'live', detail: live },
        ...groups.map(async ({ name, projections, projector }): Promise<Check> => {
          const { status } = projector.status();
          // This node's or another's: what was in the log when this one began must be in the rows.
          const all = Promise.all(projections.map((each) => kernel.settled.caughtUp(each.name)));
          const caughtUp = await inTime(all)
            .then((each) => !each.includes(false))
            .catch(() => false);
          const detail = caughtUp ? status : `${status}, behind the start of this node`;
          return { name: `projector ${name}`, ok: caughtUp && status !== 'failing', detail };
        }),
      ]);
      const unopened = kernel.unopened();
      if (unopened > 0) {
        const detail = `${unopened} can't be opened and are shown as erased: the log tells which`;
        checks.push({ name: 'sealed events', ok: true, detail });
      }
      if (damaged() > 0) {
        const detail = `${damaged()} are damaged and left out: standard error tells which`;
        checks.push({ name: 'events of the log', ok: true, detail });
      }
      if (unreachedBy().length > 0) {
        const detail = `can't be reached by ${unreachedBy().join(', ')}: mesh.host and mesh.address`;
        checks.push({ name: 'this node', ok: true, detail });
      }
      if (!kernel.clock.inSync()) {
        const seconds = Math.round((kernel.clock.skewMs() ?? 0) / 1000);
        const off = `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the event store's`;
        const detail = `${off}: the store's is gone by, and nothing is ended by the clock`;
        checks.push({ name: "this machine's clock", ok: true, detail });
      }
      return { ok: checks.every(({ ok }) => ok), checks };
    },

    async projections() {
      const head = told(kernel.head());
      const found = groups.flatMap(({ name: group, service, projections, projector }) => {
        const owner = told(kernel.leases.holder(projectorLease(group)));
        return projections.map(async ({ name, version }): Promise<ProjectionStatus> => {
          const collection = kernel.served.collection(name) ?? '';
          const position = await told(kernel.checkpoints.read(collection).then((at = 0n) => at));
          const { status } = projector.status();
          const waiting = maxPosition(feed.last(service), kernel.settled.latestOf(service));
          const rest = atLeastNone(waiting - kernel.settled.position(name));
          const lag = status === 'live' ? rest : lagOf(await head, position);
          return { name, version, collection, status, ...defined({ position, lag, owner: await owner }) };
        });
      });
      return Promise.all(found);
    },
  };
}

/** What a store says, undefined when it does not say it in time. */
const told = <T>(asked: Promise<T>): Promise<T | undefined> => inTime(asked).catch(() => undefined);

/** Between the last event of a service and the head there may be events of others only: of one that is live that is no lag. */
const lagOf = (head: bigint | undefined, position: bigint | undefined) =>
  head === undefined || position === undefined ? undefined : head - position;

const atLeastNone = (lag: bigint) => (lag > 0n ? lag : 0n);

function defined({ position, lag, owner }: Partial<ProjectionStatus>) {
  return {
    ...(position === undefined ? {} : { position }),
    ...(lag === undefined ? {} : { lag }),
    ...(owner === undefined ? {} : { owner }),
  };
}
