/** Given events in a log in memory, when a thing is looked up at a time, then its state. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createStateAt, type ThingKind } from '../../application/audit/index.js';
import type { EventLog, RecordedEvent } from '../../application/ports/index.js';
import { type Catalog, type Decider, type DomainEvent, evolveOf, isRejection } from '../../domain/shared/index.js';
import { memoryKernel, memoryWorld } from './memory-kernel.js';

/** Unix ms, after all events of the log in memory. */
export const NOW = 2_000_000_000_000;

/** The events of commands, decided one after the other. */
export function decided<State, Command, Event extends DomainEvent>(
  decider: Decider<State, Command, Event>,
  ...commands: readonly Command[]
): readonly Event[] {
  const events: Event[] = [];
  for (const command of commands) {
    const outcome = decider.decide(command, events.reduce(evolveOf(decider), decider.initialState));
    if (isRejection(outcome)) throw new Error(outcome.detail ?? outcome.rejected);
    events.push(...outcome);
  }
  return events;
}

/** The events are sealed as their catalog says: keys are created when they are first needed. */
export function pastStateSpec(catalogs: readonly Catalog[], kinds: readonly ThingKind[]) {
  const world = memoryWorld();
  const clock = { now: () => NOW };
  const kernel = memoryKernel(world, catalogs, clock);
  /** Event times by revision that replace the real ones, as if the clock of the store had been set. */
  const timesSet = new Map<number, number>();
  const read: EventLog['read'] = async (...options) => {
    const events = await kernel.log.read(...options);
    if (typeof events === 'string') return events;
    return events.map((each) => ({ ...each, recordedAt: timesSet.get(each.revision) ?? each.recordedAt }));
  };
  const stateAt = createStateAt({ ...kernel, log: { ...kernel.log, read }, clock }, kinds);

  /** Appends events to a stream, and returns the time of each, Unix ms. */
  async function given(stream: string, ...events: readonly DomainEvent[]): Promise<readonly number[]> {
    const times: number[] = [];
    for (const event of events) {
      const { sealed } = catalogs.flatMap(({ service, events }) =>
        stream.startsWith(`${service}.`) ? (events[event.type] ?? []) : [],
      )[0]!;
      if (sealed) await kernel.vault.create(sealed.subject(event.data));
      const there = world.all.filter(({ streamId }) => streamId === stream).length;
      const added = { id: randomUUID(), event, metadata: {} };
      const { outcome } = await kernel.log.append(stream, there === 0 ? 'none' : there - 1, [added]);
      expect(outcome).to.equal('appended');
      const [last] = (await kernel.log.read(stream, { backwards: true, limit: 1 })) as readonly RecordedEvent[];
      times.push(last!.recordedAt);
    }
    return times;
  }

  const at = (time: number, thing: string, viewer?: string) => ({
    async then(expected: object, erased = false) {
      const result = await stateAt(thing, time, viewer);
      if ('rejected' in result) throw new Error(`${thing} was refused: ${result.detail}`);
      expect(result.found).to.deep.include({ thing, time: new Date(time).toISOString(), erased });
      expect(result.found.state).to.deep.include(expected);
    },
    async thenRefused(rejected: string, detail?: RegExp) {
      const result = await stateAt(thing, time, viewer);
      expect(result).to.include({ rejected });
      if (detail) expect((result as { detail: string }).detail).to.match(detail);
    },
  });
  return { given, at, kernel, timesSet };
}
