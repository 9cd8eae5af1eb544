/** A clock that leaps ahead lets nothing go that is kept for days before that has lasted, on whatever node. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ASK_EVERY_MS, createLasting, LASTS_MS, LEAP_MS } from '../../application/lasting.js';
import { startServers } from '../support/engines.js';
import { heldTime } from '../support/held-time.js';
import { startToys } from '../support/toys.js';

describe('a clock that leaps ahead together with that of the store', () => {
  const start = 1_800_000_000_000;

  function onOneMachine() {
    const [wall, passed] = [heldTime(start), heldTime(0)];
    let believed: number | undefined;
    const warned: string[] = [];
    const told = (_: object, message: string) => void warned.push(message);
    const logger = { debug() {}, info() {}, warn: told, error() {} };
    const mark = {
      read: async () => believed,
      async set() {
        believed = wall.now();
      },
    };
    const clock = { now: wall.now, agrees: () => true, certain: async () => wall.now() };
    const begin = () => createLasting({ clock, mark, logger, monotonic: passed });
    return { wall, passed, warned, begin, pass: (ms: number) => [wall, passed].map((each) => each.pass(ms)) };
  }

  it('is believed where it never was before, and while it goes on', async () => {
    const { begin, pass, wall, warned } = onOneMachine();
    const lasting = begin();
    expect(await lasting.certain()).to.equal(start);
    pass(LEAP_MS);
    expect(await lasting.certain()).to.equal(wall.now());
    expect(warned).to.deep.equal([]);
  });

  it('is not believed before that has lasted, which is told once', async () => {
    const { begin, pass, wall, warned } = onOneMachine();
    const lasting = begin();
    await lasting.certain();
    wall.pass(LEAP_MS + 1);
    expect(await lasting.certain()).to.equal(undefined);
    pass(LASTS_MS - 1);
    expect(await lasting.certain()).to.equal(undefined);
    pass(1);
    expect(await lasting.certain()).to.equal(wall.now());
    expect(warned).to.have.length(1);
  });

  it('is believed within a day by a machine that runs for forty minutes', async () => {
    const { begin, pass, wall } = onOneMachine();
    await begin().certain();
    wall.pass(3 * LEAP_MS);
    const lasting = begin();
    let time = await lasting.certain();
    for (let ran = ASK_EVERY_MS; time === undefined && ran <= 40 * 60_000; ran += ASK_EVERY_MS) {
      pass(ASK_EVERY_MS);
      time = await lasting.certain();
    }
    expect(time).to.equal(wall.now());
  });

  it('is not believed either by a node that starts meanwhile, and starts again', async () => {
    const { begin, pass, wall } = onOneMachine();
    await begin().certain();
    wall.pass(40 * LEAP_MS);
    expect(await begin().certain()).to.equal(undefined);
    pass(LASTS_MS);
    expect(await begin().certain()).to.equal(undefined);
  });

  it('is believed at once when it is set right, and the next leap has to last as long', async () => {
    const { begin, pass, wall } = onOneMachine();
    const lasting = begin();
    await lasting.certain();
    wall.pass(40 * LEAP_MS);
    await lasting.certain();
    wall.pass(-40 * LEAP_MS);
    expect(await lasting.certain()).to.equal(start);
    pass(LASTS_MS);
    wall.pass(40 * LEAP_MS);
    expect(await lasting.certain()).to.equal(undefined);
  });
});

describe('when the time was believed last', () => {
  it('is known to the store, by its clock', async () => {
    const servers = await startServers();
    const kernel = await startToys(servers, `test_${randomUUID().slice(0, 8)}`);
    try {
      const before = Date.now();
      await kernel.log.believed.set();
      expect(await kernel.log.believed.read()).to.be.within(before - 1000, Date.now() + 1000);
      expect(await kernel.lasting.certain()).to.be.closeTo(Date.now(), 10_000);
    } finally {
      await kernel.close();
      await servers.stop();
    }
  });
});
