/** A clock that leaps ahead lets nothing go that is kept for days before that has lasted, on whatever node. */
import { randomUUID } from 'node:crypto';
import { startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import type { Clock } from '../../../application/ports/index.js';
import {
  ASK_EVERY_MS,
  type ClockJump,
  CONFIRM_MS,
  createClockJumpGuard,
  JUMP_MS,
  type TimestampRegister,
} from '../../../application/time/clock-jump-guard.js';
import { heldTime } from '../../support/held-time.js';
import { startToys } from '../../support/toys.js';

/** A mark of a store whose clock is this machine's. */
function markIn<Note extends object>(clock: Clock): TimestampRegister<Note> {
  let told: (Note & { readonly at: number }) | undefined;
  return {
    read: async () => told,
    async set(note) {
      told = { ...note, at: clock.now() };
    },
  };
}

describe('a clock that leaps ahead together with that of the store', () => {
  const start = 1_800_000_000_000;

  function onOneMachine() {
    const [wall, passed] = [heldTime(start), heldTime(0)];
    const marks = { believed: markIn<object>(wall), doubted: markIn<ClockJump>(wall) };
    const warned: object[] = [];
    const told = (line: object) => void warned.push(line);
    const logger = { debug() {}, info() {}, warn: told, error() {} };
    const state = { isCertain: true };
    const certain = async () => (state.isCertain ? wall.now() : undefined);
    const clock = { now: wall.now, inSync: () => state.isCertain, confirmedNow: certain };
    const begin = () => createClockJumpGuard({ clock, ...marks, logger, monotonic: passed });
    const pass = (ms: number) => [wall, passed].map((each) => each.pass(ms));
    return { wall, passed, warned, begin, pass, state };
  }

  it('is believed where it never was before, and while it goes on', async () => {
    const { begin, pass, wall, warned } = onOneMachine();
    const lasting = begin();
    expect(await lasting.confirmedNow()).to.equal(start);
    pass(JUMP_MS);
    expect(await lasting.confirmedNow()).to.equal(wall.now());
    expect(warned).to.deep.equal([]);
  });

  it('is not believed before that has lasted, which is told once', async () => {
    const { begin, pass, wall, warned } = onOneMachine();
    const lasting = begin();
    await lasting.confirmedNow();
    wall.pass(JUMP_MS + 1);
    expect(await lasting.confirmedNow()).to.equal(undefined);
    pass(CONFIRM_MS - 1);
    expect(await lasting.confirmedNow()).to.equal(undefined);
    pass(1);
    expect(await lasting.confirmedNow()).to.equal(wall.now());
    expect(warned).to.deep.equal([{ leapMs: JUMP_MS + 1 }]);
  });

  it('is none where no time is certain, which is no leap however long it goes on', async () => {
    const { begin, pass, wall, warned, state } = onOneMachine();
    const lasting = begin();
    await lasting.confirmedNow();
    state.isCertain = false;
    for (let asked = 0; asked < 3; asked++) {
      expect(await lasting.confirmedNow()).to.equal(undefined);
      pass(CONFIRM_MS);
    }
    expect([warned, lasting.pausedForMs()]).to.deep.equal([[], undefined]);
    state.isCertain = true;
    expect(await lasting.confirmedNow()).to.equal(wall.now());
  });

  it('is not believed before that has lasted, though somebody asked while no time was certain', async () => {
    const { begin, wall, state } = onOneMachine();
    const lasting = begin();
    await lasting.confirmedNow();
    wall.pass(JUMP_MS + 1);
    state.isCertain = false;
    expect(await lasting.confirmedNow()).to.equal(undefined);
    state.isCertain = true;
    expect(await lasting.confirmedNow()).to.equal(undefined);
    expect(lasting.pausedForMs()).to.equal(CONFIRM_MS);
  });

  it('is believed within a day by a machine that runs for forty minutes', async () => {
    const { begin, pass, wall } = onOneMachine();
    await begin().confirmedNow();
    wall.pass(3 * JUMP_MS);
    const lasting = begin();
    let time = await lasting.confirmedNow();
    for (let ran = ASK_EVERY_MS; time === undefined && ran <= 40 * 60_000; ran += ASK_EVERY_MS) {
      pass(ASK_EVERY_MS);
      time = await lasting.confirmedNow();
    }
    expect(time).to.equal(wall.now());
  });

  it('is believed by a machine that runs for 25 minutes at a time, with days between', async () => {
    const { begin, pass, wall } = onOneMachine();
    await begin().confirmedNow();
    const run = async () => {
      wall.pass(3 * JUMP_MS);
      const lasting = begin();
      for (const ms of [0, ASK_EVERY_MS]) {
        pass(ms);
        expect(await lasting.confirmedNow()).to.equal(undefined);
      }
      pass(ASK_EVERY_MS);
      return lasting.confirmedNow();
    };
    expect(await run()).to.equal(undefined);
    wall.pass(3 * JUMP_MS);
    const lasting = begin();
    expect(await lasting.confirmedNow()).to.equal(undefined);
    expect(lasting.pausedForMs()).to.equal(CONFIRM_MS - 2 * ASK_EVERY_MS);
    pass(ASK_EVERY_MS);
    expect(await lasting.confirmedNow()).to.equal(wall.now());
    expect(lasting.pausedForMs()).to.equal(undefined);
  });

  it('is believed no sooner where several nodes wait for it', async () => {
    const { begin, pass, wall } = onOneMachine();
    const nodes = [begin(), begin(), begin()];
    await nodes[0]!.confirmedNow();
    wall.pass(3 * JUMP_MS);
    for (let passed = 0; passed < CONFIRM_MS; passed += CONFIRM_MS / 60) {
      for (const node of nodes) expect(await node.confirmedNow()).to.equal(undefined);
      pass(CONFIRM_MS / 60);
    }
    expect(await nodes[0]!.confirmedNow()).to.equal(wall.now());
  });

  it('has to last anew when it was set right meanwhile, on whatever node', async () => {
    const { begin, pass, wall } = onOneMachine();
    await begin().confirmedNow();
    wall.pass(40 * JUMP_MS);
    const lasting = begin();
    await lasting.confirmedNow();
    pass(CONFIRM_MS - 1);
    await lasting.confirmedNow();
    wall.pass(-40 * JUMP_MS);
    await begin().confirmedNow();
    wall.pass(40 * JUMP_MS);
    expect(await lasting.confirmedNow()).to.equal(undefined);
    expect(lasting.pausedForMs()).to.equal(CONFIRM_MS);
  });

  it('is not believed either by a node that starts meanwhile, and starts again', async () => {
    const { begin, pass, wall } = onOneMachine();
    await begin().confirmedNow();
    wall.pass(40 * JUMP_MS);
    expect(await begin().confirmedNow()).to.equal(undefined);
    pass(CONFIRM_MS);
    expect(await begin().confirmedNow()).to.equal(undefined);
  });

  it('is believed at once when it is set right, and the next leap has to last as long', async () => {
    const { begin, pass, wall } = onOneMachine();
    const lasting = begin();
    await lasting.confirmedNow();
    wall.pass(40 * JUMP_MS);
    await lasting.confirmedNow();
    // Whoever sets it right takes a moment for it.
    wall.pass(1 - 40 * JUMP_MS);
    expect(await lasting.confirmedNow()).to.equal(start + 1);
    pass(CONFIRM_MS);
    wall.pass(40 * JUMP_MS);
    expect(await lasting.confirmedNow()).to.equal(undefined);
  });
});

describe('when the time was believed last', () => {
  it('is known to the store, by its clock', async () => {
    const servers = await startServers();
    const kernel = await startToys(servers, `test_${randomUUID().slice(0, 8)}`);
    try {
      const before = Date.now();
      const { believed, doubted } = kernel.log;
      await believed.set({});
      expect((await believed.read())?.at).to.be.within(before - 1000, Date.now() + 1000);
      expect(await doubted.read()).to.equal(undefined);
      for (const waitedMs of [1, 2]) await doubted.set({ since: before, waitedMs });
      expect(await doubted.read()).to.include({ since: before, waitedMs: 2 });
      expect(await kernel.lasting.confirmedNow()).to.be.closeTo(Date.now(), 10_000);
    } finally {
      await kernel.close();
      await servers.stop();
    }
  });
});
