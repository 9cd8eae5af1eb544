/** What the operations port tells of this node: whether it can work, and how far its read models are. */
import type { Check, ProjectionStatus, Status } from '../adapters/http/operations.js';
import type { Kernel } from './kernel.js';
import type { Part } from './service.js';

const ANSWER_MS = 2000;

export function statusOf(kernel: Kernel, parts: readonly Part[]): Status {
  const check = async (name: string, ask: () => Promise<unknown>): Promise<Check> => {
    const late = new Promise((_, reject) => setTimeout(reject, ANSWER_MS, new Error('no answer')).unref());
    try {
      await Promise.race([ask(), late]);
      return { name, ok: true };
    } catch {
      return { name, ok: false, detail: 'does not answer' };
    }
  };
  return {
    async ready() {
      const checks = await Promise.all([
        check('event store', kernel.head),
        check('MongoDB', kernel.mongo.ping),
        ...parts.map(async ({ service, projector }): Promise<Check> => {
          const { status } = projector.status();
          return { name: `projector ${service.name}`, ok: status !== 'failing', detail: status };
        }),
      ]);
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
