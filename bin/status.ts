/** What the operations port tells of this node: whether it can work, and how far its read models are. */
import type { Check, ProjectionStatus, Status } from '../adapters/http/operations.js';
import type { Feed } from '../application/feed.js';
import type { Kernel } from './kernel.js';
import type { Part } from './service.js';

const ANSWER_MS = 2000;

/** Rejects when there is no answer within 2 s. */
function inTime<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, ANSWER_MS, new Error('no answer'));
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

export function statusOf(kernel: Kernel, parts: readonly Part[], feed: Feed): Status {
  const check = async (name: string, ask: () => Promise<unknown>): Promise<Check> => {
    try {
      await inTime(ask());
      return { name, ok: true };
    } catch {
      return { name, ok: false, detail: 'does not answer' };
    }
  };
  return {
    async ready() {
      const live = feed.status();
      const checks = await Promise.all([
        check('event store', kernel.head),
        check('MongoDB', kernel.mongo.ping),
        { name: 'feed', ok: live === 'live', detail: live },
        ...parts.map(async ({ service: { name }, projector }): Promise<Check> => {
          const { status } = projector.status();
          // This node's or another's: what was in the log when this one began must be in the rows.
          const caughtUp = await inTime(kernel.settled.caughtUp(name)).catch(() => false);
          const detail = caughtUp ? status : `${status}, behind the start of this node`;
          return { name: `projector ${name}`, ok: caughtUp && status !== 'failing', detail };
        }),
      ]);
      const unopened = kernel.unopened();
      if (unopened > 0) {
        const detail = `${unopened} can't be opened and are shown as erased: the log tells which`;
        checks.push({ name: 'sealed events', ok: true, detail });
      }
      return { ok: checks.every(({ ok }) => ok), checks };
    },

    async projections() {
      const head = await kernel.head();
      const found = parts.map(async ({ service, projector }) => {
        const owner = await kernel.leases.holder(`projector:${service.name}`);
        const { status } = projector.status();
        return Promise.all(
          service.projections.map(async ({ name, version }): Promise<ProjectionStatus> => {
            const collection = kernel.served.collection(name) ?? '';
            const position = (await kernel.checkpoints.read(collection)) ?? 0n;
            // Between the last event of a service and the head there may be events of others only.
            const lag = status === 'live' ? 0n : head - position;
            return { name, version, collection, position, lag, status, ...(owner ? { owner } : {}) };
          }),
        );
      });
      return (await Promise.all(found)).flat();
    },
  };
}
