/** Property of the relay across restarts: participants from before the feed's start are known, and departures are sent. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { createRelay } from '../../../../adapters/realtime/relay/relay.js';
import { maxPosition } from '../../../../application/consistency/index.js';
import type { RecordedEvent, RevealedEvent, Subscribe } from '../../../../application/ports/index.js';
import { audienceFold } from '../../../../application/subscription/audience.js';
import {
  createSnapshotWriter,
  restoreFold,
  type Snapshots,
} from '../../../../application/subscription/fold-snapshots.js';
import { createResumeWindow, type WindowStart } from '../../../../application/subscription/live-feed.js';
import { PersistentMap } from '../../../../domain/shared/persistent-map.js';
import { snapshotsInMemory } from '../../../support/memory-ports.js';
import {
  at,
  connectAs,
  entered,
  head,
  left,
  record,
  types,
  type WardEvent,
  wardAudience,
  wrote,
} from '../../../support/toy-service.js';

type Placed = RevealedEvent<WardEvent>;

const PEOPLE = ['ann', 'bob', 'cy'];
const WARDS = ['w', 'v'];
const person = fc.constantFrom(...PEOPLE);
const ward = fc.constantFrom(...WARDS);
const event: fc.Arbitrary<WardEvent> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(person, ward).map(([who, where]) => entered(who, where)) },
  { weight: 2, arbitrary: fc.tuple(person, ward).map(([who, where]) => left(who, where)) },
  { weight: 4, arbitrary: fc.tuple(fc.string(), ward).map(([text, where]) => wrote(text, where)) },
  { weight: 1, arbitrary: ward.map((each) => ({ type: 'Closed' as const, data: { ward: each } })) },
);

/** `window`: how far behind the end nodes leave it, in tenths of the log; `snapshot`: one is due. */
const step = fc.oneof(
  { weight: 8, arbitrary: event },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('window' as const), behind: fc.nat(10) }) },
  { weight: 2, arbitrary: fc.constant({ type: 'snapshot' as const }) },
  { weight: 1, arbitrary: fc.constant({ type: 'restart' as const }) },
);

const { signal } = new AbortController();

/** Successive nodes over one log, beside a relay that was there from the beginning. */
function world(snapshots: Snapshots) {
  const log: Placed[] = [];
  const state = { window: { horizon: 0n, from: 0n } as WindowStart, read: [] as bigint[] };
  const ever = createRelay({ audience: wardAudience, head });
  const ports = {
    log: {
      read(stream: string): never {
        throw new Error(`${stream} is read`);
      },
    },
    decryptEvent: async (event: RecordedEvent) => event as RevealedEvent,
    logger: silentLogger,
  };
  const end = () => log.at(-1)?.position ?? 0n;
  const follow: Subscribe = async function* ({ from, ...selection }) {
    const isWanted = ({ type, stream }: Placed) =>
      'types' in selection
        ? selection.types.includes(type)
        : selection.prefixes.some((prefix) => stream.startsWith(prefix));
    const found = log.filter((each) => each.position > (from === 'start' ? 0n : from) && isWanted(each));
    state.read.push(...found.map(({ position }) => position));
    yield { events: found as unknown as RecordedEvent[], position: end(), caughtUp: true };
  };

  async function start() {
    const from = { ...ports, follow, snapshots, signal };
    const restored = await restoreFold('wards', audienceFold(wardAudience), state.window, from);
    const { state: seed, window, position } = restored;
    const relay = createRelay({ audience: wardAudience, head, from: window.horizon, seed });
    for (const each of log) if (each.position > window.from) relay.publish(each);
    const writeSnapshot = createSnapshotWriter({
      service: 'wards',
      form: wardAudience.snapshot!,
      cursors: undefined,
      size: undefined,
      initial: undefined,
      snapshots,
      windows: { read: async () => state.window },
      currentState: () => ({
        state: relay.state(),
        position: maxPosition(relay.position(), position),
      }),
    });
    return { relay, window, writeSnapshot };
  }

  return {
    ever,
    start,
    end,
    state,
    append(what: WardEvent): Placed {
      // Other services write too.
      const next = at(end() + 10n, what);
      log.push(next);
      ever.publish(next);
      return next;
    },
  };
}

describe('a relay that starts in the middle of the log', () => {
  it('sends what a relay from the beginning sends, or RESET where its window begins later', async () => {
    const property = fc.asyncProperty(
      fc.array(step, { maxLength: 40, size: 'max' }),
      fc.nat(600),
      async (steps, after) => {
        const { ever, start, end, state, append } = world(snapshotsInMemory().snapshots);
        let node = await start();
        for (const each of steps) {
          if (each.type === 'window') {
            const from = (end() * BigInt(10 - each.behind)) / 10n;
            state.window = { horizon: from, from };
          } else if (each.type === 'snapshot') await node.writeSnapshot();
          else if (each.type === 'restart') node = await start();
          else node.relay.publish(append(each));
        }
        node = await start();
        expect(node.relay.state()).to.deep.equal(ever.state());
        const streams = PEOPLE.map((who) => {
          const [back, steady] = [record(), record()];
          node.relay.connect({ ...connectAs(who), after: BigInt(after) }, back);
          ever.connect({ ...connectAs(who), after: BigInt(after) }, steady);
          return { back, steady };
        });
        const next = append(wrote('after the restart'));
        node.relay.publish(next);
        for (const { back, steady } of streams) {
          if (after < node.window.horizon) expect(types(back)[0]).to.equal('RESET');
          else expect(back.sent).to.deep.equal(steady.sent);
        }
        for (const { relay } of [node, { relay: ever }]) relay.close();
      },
    );
    await fc.assert(property, { numRuns: 150 });
  });

  it('reads only the part of the log since its snapshot, and nothing if there is none', async () => {
    const { snapshots, state: stored } = snapshotsInMemory();
    const { start, end, state, append } = world(snapshots);
    let node = await start();
    const write = (what: WardEvent) => node.relay.publish(append(what));
    const restart = async () => {
      state.read = [];
      state.window = { horizon: end(), from: end() };
      await node.writeSnapshot();
      node = await start();
      return state.read;
    };
    for (const each of [entered('ann'), wrote('1'), left('ann'), entered('bob')]) write(each);
    expect(await restart(), 'no snapshot before').to.deep.equal([]);
    expect(stored.written).to.equal(1);
    await node.writeSnapshot();
    expect(stored.written, 'by the next node').to.equal(2);
    for (const each of [wrote('2'), wrote('3')]) write(each);
    expect(await restart()).to.deep.equal([]);
    expect(stored, 'not whole where nobody came or went').to.include({ written: 2, extended: 1 });
    write(entered('cy'));
    const last = end();
    state.window = { horizon: last, from: last };
    state.read = [];
    node = await start();
    expect(state.read).to.deep.equal([last]);
    expect(node.relay.state()).to.deep.equal({ w: ['bob', 'cy'] });
  });

  it('reports whether it has written a whole snapshot, and writes nothing if nothing changed', async () => {
    const { snapshots, state: stored } = snapshotsInMemory();
    const { start, end, state, append } = world(snapshots);
    const { relay, writeSnapshot } = await start();
    const write = (what: WardEvent) => {
      relay.publish(append(what));
      state.window = { horizon: end(), from: end() };
    };
    write(entered('ann'));
    expect(await writeSnapshot()).to.equal(true);
    expect(await writeSnapshot()).to.equal(false);
    expect(stored).to.include({ written: 1, extended: 0 });
    write(wrote('1'));
    expect([await writeSnapshot(), await writeSnapshot()]).to.deep.equal([false, false]);
    expect(stored).to.include({ written: 1, extended: 1 });
    write(left('ann'));
    expect(await writeSnapshot()).to.equal(true);
  });

  it('stores the state at the start of its window, not the current one', async () => {
    const { snapshots, stored } = snapshotsInMemory();
    const { start, end, state, append } = world(snapshots);
    const node = await start();
    node.relay.publish(append(entered('ann')));
    const position = end();
    await node.writeSnapshot();
    expect([...stored]).to.deep.equal([]);
    for (const each of [entered('bob'), wrote('1')]) node.relay.publish(append(each));
    state.window = { horizon: position, from: position };
    await node.writeSnapshot();
    expect(stored.get('wards')).to.deep.include({ position, parts: [['w', ['ann']]] });
  });

  it('starts at its snapshot if another node left the window further back', async () => {
    const { snapshots } = snapshotsInMemory();
    const { start, end, state, append } = world(snapshots);
    let node = await start();
    for (const each of [entered('ann'), wrote('1'), left('ann')]) node.relay.publish(append(each));
    state.window = { horizon: end(), from: end() };
    await node.writeSnapshot();
    state.window = { horizon: 10n, from: 10n };
    node = await start();
    expect(node.window).to.deep.equal({ horizon: end(), from: end() });
    expect(node.relay.state()).to.deep.equal({ w: [] });
  });

  it('is behind by its last event at most, then and after the next start', async () => {
    const { snapshots } = snapshotsInMemory();
    const { start, end, state, append } = world(snapshots);
    append(entered('ann'));
    const last = append(wrote('1')).position;
    const others = end() + 30n;
    state.window = { horizon: 0n, from: others };
    await (await start()).writeSnapshot();
    for (const left of [0n, 10n, last]) {
      state.window = { horizon: left, from: left };
      const window = createResumeWindow((await start()).window);
      expect(window).to.include({ horizon: last, from: others, last });
      window.advanceTo(others + 5n, 0);
      state.window = { horizon: window.horizon, from: window.from };
      expect(createResumeWindow((await start()).window)).to.include({ last, from: others + 5n });
    }
  });

  it('refolds snapshots of another format', async () => {
    const { snapshots, stored } = snapshotsInMemory();
    const { start, end, state, append } = world(snapshots);
    const node = await start();
    node.relay.publish(append(entered('ann')));
    state.window = { horizon: end(), from: end() };
    stored.set('wards', { version: 0, position: end(), until: end(), parts: [['other', ['form']]] });
    expect((await start()).relay.state()).to.deep.equal({ w: ['ann'] });
  });

  it('writes restored state at once, however far the log has advanced', async () => {
    const { snapshots, stored } = snapshotsInMemory();
    const writeSnapshot = createSnapshotWriter<number>({
      service: 'wards',
      form: { version: 1, parts: (state) => [state], from: () => 0 },
      cursors: undefined,
      size: undefined,
      initial: { state: 5, position: 5n },
      snapshots,
      windows: { read: async () => ({ horizon: 5n, from: 5n }) },
      currentState: () => ({ state: 9, position: 9n }),
    });
    expect([await writeSnapshot(), await writeSnapshot()]).to.deep.equal([true, false]);
    expect(stored.get('wards')).to.include({ position: 5n }).and.to.have.deep.property('parts', [5]);
  });

  it('writes snapshots for few streams if they have enough events', async () => {
    const { snapshots, stored } = snapshotsInMemory();
    const cursors = (events: number) => ({
      one: { revision: events - 1, position: BigInt(events), commands: PersistentMap.empty<never>() },
    });
    const parts = 4000;
    let events = 999;
    const createWriter = () =>
      createSnapshotWriter<number>({
        service: 'wards',
        form: { version: 1, parts: () => Array.from({ length: parts }, () => 0), from: () => 0 },
        cursors,
        size: stored.get('wards') && { events: Number(stored.get('wards')!.position), parts },
        initial: undefined,
        snapshots,
        windows: { read: async () => ({ horizon: 9999n, from: 9999n }) },
        currentState: () => ({ state: events, position: BigInt(events) }),
      });
    let writeSnapshot = createWriter();
    const after = async (now: number) => {
      events = now;
      return writeSnapshot();
    };
    expect([await after(999), await after(1000)]).to.deep.equal([false, true]);
    expect([await after(2999), await after(3000)], 'a thousand, and one for four parts').to.deep.equal([false, true]);
    writeSnapshot = createWriter();
    expect([await after(4999), await after(5000)], 'by the next node').to.deep.equal([false, true]);
  });
});
