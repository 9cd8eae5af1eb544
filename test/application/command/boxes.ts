/** What tests of remembered streams have in common: boxes full of toys, nodes that have read none, and counted reads. */
import { randomUUID } from 'node:crypto';
import { createAggregateStore } from '../../../application/command/aggregate-store.js';
import type { EventLog } from '../../../application/ports/index.js';
import { commandsOf } from '../../support/memory-kernel.js';
import type { Road } from './two-nodes.js';

/** Bytes that a fresh node may remember, of small streams and of large ones. */
export const LIMIT = 20_000;

type Ground = Pick<Road, 'log' | 'decryptEvent' | 'vault'>;

/** Another node, that has read nothing yet. */
export function freshNode({ log, decryptEvent }: Pick<Road, 'log' | 'decryptEvent'>) {
  const streams = createAggregateStore(log, decryptEvent, { smallBytes: LIMIT, largeBytes: LIMIT });
  return { streams, ...commandsOf({ log, streams }) };
}

/** A box that so many toys were put into at once, by events of one append each of 100. */
export async function boxOf(ground: Ground, toys: number): Promise<string> {
  const stream = `toys.box-${randomUUID()}`;
  await ground.vault.create(stream);
  await fill(ground, stream, toys);
  return stream;
}

/** Puts so many toys more into a box, after the event of a revision. */
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

/** The log, with how often it was read, and how many events were found. */
export function countingReads(log: EventLog) {
  let [reads, events] = [0, 0];
  const read: EventLog['read'] = async (...asked) => {
    reads++;
    const found = await log.read(...asked);
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
