/** Fixtures of the aggregate store tests: boxes of toys, nodes without cached streams, and counted reads. */
import { randomUUID } from 'node:crypto';
import { createAggregateStore } from '../../../application/command/aggregate-store.js';
import type { EventLog } from '../../../application/ports/index.js';
import { commandsOf } from '../../support/memory-kernel.js';
import type { Road } from './two-nodes.js';

/** Bytes a fresh node may cache, for small and for large streams each. */
export const LIMIT = 20_000;

type Ground = Pick<Road, 'log' | 'decryptEvent' | 'vault'>;

/** Another node, with nothing cached. */
export function freshNode({ log, decryptEvent }: Pick<Road, 'log' | 'decryptEvent'>) {
  const aggregates = createAggregateStore(log, decryptEvent, { smallBytes: LIMIT, largeBytes: LIMIT });
  return { aggregates, ...commandsOf({ log, aggregates }) };
}

/** A box with that many toys, appended in batches of 100 events. */
export async function boxOf(ground: Ground, toys: number): Promise<string> {
  const stream = `toys.box-${randomUUID()}`;
  await ground.vault.create(stream);
  await fill(ground, stream, toys);
  return stream;
}

/** Puts that many more toys into a box, after the given revision. */
export async function fill({ log }: Pick<Ground, 'log'>, stream: string, toys: number, last = -1) {
  const box = stream.slice('toys.box-'.length);
  const end = last + toys;
  for (let revision = last; revision < end; revision = Math.min(revision + 100, end)) {
    const events = Array.from({ length: Math.min(100, end - revision) }, (_, index) => ({
      id: randomUUID(),
      event: { type: 'ToyPut', data: { box, toy: `toy-${revision + 1 + index}`, secret: { note: '' } } },
      metadata: {},
    }));
    await log.append(stream, revision < 0 ? 'none' : revision, events);
  }
}

/** The log, counting reads and the events they return. */
export function countingReads(log: EventLog) {
  let [reads, events] = [0, 0];
  const read: EventLog['read'] = async (...args) => {
    reads++;
    const found = await log.read(...args);
    events += found.length;
    return found;
  };
  return { log: { ...log, read }, reads: () => reads, events: () => events };
}

export async function newestOf(log: EventLog, stream: string) {
  const found = await log.read(stream, { backwards: true, limit: 1 });
  if (typeof found === 'string') throw new Error(found);
  return found[0]!;
}
