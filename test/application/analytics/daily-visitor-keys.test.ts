/** The rotating visitor key: equal digests on all nodes for one day, and none after the day has ended. */
import { expect } from 'chai';
import { createDailyVisitorKeys, destroyKeyReaction } from '../../../application/analytics/daily-visitor-keys.js';
import { asEvent } from '../../../application/command/event-envelope.js';
import { catalog } from '../../../domain/analytics/catalog.js';
import { VISITOR_DAYS, type VisitorsEvent } from '../../../domain/analytics/visitor-keys.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';

const DAY = '2026-11-22';
const MIDNIGHT = Date.UTC(2026, 10, 23);
const MINUTE = 60_000;

function useNodes() {
  const world = memoryWorld();
  const time = { now: MIDNIGHT - MINUTE, inSync: true };
  const node = () => {
    const clock = {
      now: () => time.now,
      confirmedNow: async () => (time.inSync ? time.now : undefined),
      inSync: () => time.inSync,
    };
    const kernel = memoryKernel(world, [catalog], clock);
    return { ...kernel, days: createDailyVisitorKeys({ ...kernel, clock, context: kernel.systemContext }) };
  };
  const events = async () => {
    const found = await node().log.read(VISITOR_DAYS);
    return typeof found === 'string' ? [] : found.map((each) => asEvent<VisitorsEvent>(each));
  };
  /** What a node does in its reactions and from its live feed. */
  const follow = async (nodes: readonly ReturnType<typeof node>[]) => {
    for (const event of await events()) {
      if (event.type !== 'VisitorDayEnded') continue;
      for (const each of nodes) {
        await destroyKeyReaction(each.vault).on.VisitorDayEnded(event);
        each.days.forget(event.data.day);
      }
    }
  };
  return {
    world,
    time,
    node,
    events,
    follow,
    names: async () => (await events()).map(({ type, data }) => [type, data.day]),
  };
}

describe('the daily visitor key', () => {
  it('gives equal digests on every node and different ones on the next day', async () => {
    const { node } = useNodes();
    const [one, other] = [node(), node()];
    const [a, b] = await Promise.all([one.days.hasherFor(DAY), other.days.hasherFor(DAY)]);
    expect(a?.('Ada'))
      .to.match(/^[0-9a-f]{64}$/)
      .and.equal(b?.('Ada'));
    expect(a?.('Ada')).not.to.equal(a?.('Bob'));
    const next = await one.days.hasherFor('2026-11-23');
    expect(next?.('Ada')).not.to.equal(a?.('Ada'));
  });

  it('is created once for concurrent requests', async () => {
    const { node, names } = useNodes();
    const [one, other] = [node(), node()];
    await Promise.all([one, other, one, other].map(({ days }) => days.hasherFor(DAY)));
    expect(await names()).to.deep.equal([['VisitorDayOpened', DAY]]);
  });

  it('lives until its day ends, plus a margin for clock skew', async () => {
    const { node, time, names } = useNodes();
    const one = node();
    await one.days.hasherFor(DAY);
    for (const now of [MIDNIGHT - MINUTE, MIDNIGHT + MINUTE]) {
      time.now = now;
      await one.days.end();
    }
    expect(await names()).to.have.lengthOf(1);
    time.now = MIDNIGHT + 3 * MINUTE;
    await one.days.end();
    await one.days.end();
    expect(await names()).to.deep.equal([
      ['VisitorDayOpened', DAY],
      ['VisitorDayEnded', DAY],
    ]);
  });

  it('is destroyed when its day ends and is not created again', async () => {
    const { node, time, world, follow } = useNodes();
    const [one, other] = [node(), node()];
    await Promise.all([one.days.hasherFor(DAY), other.days.hasherFor(DAY)]);
    expect(await world.keys.read(`analytics.visitors-${DAY}`)).to.be.instanceOf(Buffer);
    time.now = MIDNIGHT + 3 * MINUTE;
    await one.days.end();
    await follow([one, other]);
    expect(await world.keys.read(`analytics.visitors-${DAY}`)).to.equal('destroyed');
    for (const each of [one, other, node()]) expect(await each.days.hasherFor(DAY)).to.equal(undefined);
  });

  it('is replaced after a clock far ahead ended the day too early', async () => {
    const { node, time, world, follow, names } = useNodes();
    const [one, other] = [node(), node()];
    const first = await one.days.hasherFor(DAY);
    await other.days.hasherFor(DAY);
    const days = 24 * 60 * MINUTE;
    for (const ahead of [400 * days, 402 * days]) {
      time.now = MIDNIGHT + ahead;
      await one.days.hasherFor(new Date(time.now).toISOString().slice(0, 10));
      await one.days.end();
      await follow([one, other]);
    }
    time.now = MIDNIGHT - MINUTE;
    const [again, elsewhere] = [await one.days.hasherFor(DAY), await other.days.hasherFor(DAY)];
    expect(again?.('Ada')).to.be.a('string').and.not.to.equal(first?.('Ada'));
    expect(elsewhere?.('Ada')).to.equal(again?.('Ada'));
    time.now = MIDNIGHT + 3 * MINUTE;
    await other.days.end();
    await follow([one, other]);
    expect((await names()).at(-1)).to.deep.equal(['VisitorDayEnded', DAY]);
    expect(await world.keys.read(`analytics.visitors-${DAY}`)).to.equal('destroyed');
  });

  it('ends late when no node ran at the end of its day or for days after', async () => {
    const { node, time, names } = useNodes();
    time.now = Date.UTC(2026, 9, 1);
    await node().days.hasherFor('2026-10-01');
    time.now = MIDNIGHT - MINUTE;
    await node().days.hasherFor(DAY);
    time.now = MIDNIGHT + 100 * 24 * 60 * MINUTE;
    await node().days.end();
    expect((await names()).slice(2)).to.deep.equal([
      ['VisitorDayEnded', '2026-10-01'],
      ['VisitorDayEnded', DAY],
    ]);
  });

  it('does not end while the clock is unconfirmed', async () => {
    const { node, time, names } = useNodes();
    const one = node();
    await one.days.hasherFor(DAY);
    Object.assign(time, { now: MIDNIGHT + 3 * MINUTE, inSync: false });
    await one.days.end();
    expect(await names()).to.have.lengthOf(1);
  });

  it('is requested again after creating it failed', async () => {
    const { node } = useNodes();
    const one = node();
    const failing = { ...one.vault, renew: () => Promise.reject(new Error('away')) };
    let vault: Pick<typeof one.vault, 'renew' | 'digester'> = failing;
    const clock = { now: () => MIDNIGHT - MINUTE, confirmedNow: async () => undefined, inSync: () => false };
    const days = createDailyVisitorKeys({
      ...one,
      vault: { renew: (subject) => vault.renew(subject), digester: one.vault.digester },
      clock,
      context: one.systemContext,
    });
    expect(await days.hasherFor(DAY).catch(({ message }) => message)).to.equal('away');
    vault = one.vault;
    expect(await days.hasherFor(DAY)).to.be.a('function');
  });
});
