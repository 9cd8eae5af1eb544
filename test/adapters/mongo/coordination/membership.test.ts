/** Membership: each observer judges liveness by its own clock and observations. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { type MongoServer, mongoServer } from '@annals/engines/testing/mongo.js';
import { expect } from 'chai';
import { connectMongo, type Mongo } from '../../../../adapters/mongo/client.js';
import {
  joinMembers,
  type MembersOptions,
  type OpenMembers,
} from '../../../../adapters/mongo/coordination/membership.js';
import { type FakeClock, fakeClock } from '../../../support/fake-clock.js';

const BEAT_MS = 1500;
const LOST_MS = 6000;

describe('cluster members', () => {
  let server: MongoServer;
  let mongo: Mongo;
  let open: OpenMembers[];
  before(async () => {
    server = await mongoServer();
  });
  beforeEach(async () => {
    open = [];
    mongo = await connectMongo(server.url, `test_${randomUUID().slice(0, 8)}`);
  });
  afterEach(async () => {
    await Promise.all(open.map(({ leave }) => leave()));
    await mongo.models.dropDatabase();
    await mongo.close();
  });
  after(() => server?.stop());

  async function member(run: string, time: FakeClock, more: MembersOptions = {}): Promise<OpenMembers> {
    const options = { beatMs: BEAT_MS, lostMs: LOST_MS, clock: time, after: time.after, ...more };
    const joined = await joinMembers(mongo.models, { run, address: `${run}:1` }, options);
    open.push(joined);
    return joined;
  }
  const rows = () => mongo.models.collection<{ _id: string; beats: number }>('members');
  const beats = async (run: string) => (await rows().findOne({ _id: run }))?.beats ?? 0;

  /** Advances time for some members, heartbeat by heartbeat, with all their work. */
  async function pass(ms: number, ...those: readonly (readonly [string, FakeClock])[]) {
    for (let passed = 0; passed < ms; passed += BEAT_MS)
      for (const [run, time] of those) {
        const before = await beats(run);
        time.pass(BEAT_MS);
        await eventually(async () => (await beats(run)) > before && time.isDue(BEAT_MS));
      }
  }

  it('report members they cannot reach to those members', async () => {
    const hers = fakeClock();
    let unreached: readonly string[] = [];
    const ann = await member('ann', hers, { listUnreachable: () => unreached });
    const bob = await member('bob', fakeClock());
    expect(bob.unreachedBy()).to.deep.equal([]);
    unreached = ['bob', 'gone'];
    await pass(BEAT_MS, ['ann', hers]);
    await bob.look();
    expect(bob.unreachedBy()).to.deep.equal(['ann']);
    expect(ann.unreachedBy()).to.deep.equal([]);
  });

  it('see all members at start, and joins and departures', async () => {
    const [hers, his] = [fakeClock(), fakeClock(5)];
    const ann = await member('ann', hers);
    const bob = await member('bob', his);
    expect([...bob.liveNodes()].sort()).to.deep.equal(['ann', 'bob']);
    expect(bob.address('ann')).to.equal('ann:1');
    expect(ann.address('bob')).to.equal(undefined);
    await ann.look();
    expect(ann.address('bob')).to.equal('bob:1');
    await bob.leave();
    await ann.look();
    expect([...ann.liveNodes()]).to.deep.equal(['ann']);
    expect(ann.address('bob')).to.equal(undefined);
  });

  it('lose a member without heartbeats for its time, by their own clock', async () => {
    const [hers, his] = [fakeClock(), fakeClock(99)];
    const ann = await member('ann', hers);
    await member('bob', his);
    await pass(30_000, ['ann', hers], ['bob', his]);
    expect(ann.liveNodes().has('bob')).to.equal(true);
    // Bob is frozen.
    await pass(LOST_MS - BEAT_MS, ['ann', hers]);
    expect(ann.liveNodes().has('bob')).to.equal(true);
    await pass(2 * BEAT_MS, ['ann', hers]);
    expect([ann.liveNodes().has('bob'), ann.address('bob')]).to.deep.equal([false, undefined]);
    // He resumes.
    await pass(BEAT_MS, ['bob', his], ['ann', hers]);
    expect([ann.liveNodes().has('bob'), ann.address('bob')]).to.deep.equal([true, 'bob:1']);
  });

  it('do not count the time in which they were paused themselves', async () => {
    const [hers, his] = [fakeClock(), fakeClock()];
    const ann = await member('ann', hers);
    await member('bob', his);
    await ann.look();
    hers.sleep(3_600_000);
    await ann.look();
    expect(ann.liveNodes().has('bob')).to.equal(true);
    await pass(LOST_MS + BEAT_MS, ['ann', hers]);
    expect(ann.liveNodes().has('bob')).to.equal(false);
  });

  it('clean up after killed members, and accept one that was only frozen', async () => {
    const [hers, his] = [fakeClock(), fakeClock()];
    const ann = await member('ann', hers);
    await member('bob', his);
    await pass(70_000, ['ann', hers]);
    expect(await rows().findOne({ _id: 'bob' })).to.equal(null);
    await pass(BEAT_MS, ['bob', his], ['ann', hers]);
    expect(ann.address('bob')).to.equal('bob:1');
  });

  it('continue while the database is unavailable for a while', async () => {
    const time = fakeClock();
    const failures: unknown[] = [];
    let isAway = false;
    const collection = rows();
    const models = new Proxy(mongo.models, {
      get: (db, name) =>
        name !== 'collection'
          ? Reflect.get(db, name)
          : () =>
              new Proxy(collection, {
                get(_, member) {
                  if (isAway && member === 'find') throw new Error('away');
                  const found: unknown = Reflect.get(collection, member);
                  return typeof found === 'function' ? found.bind(collection) : found;
                },
              }),
    });
    const ann = await joinMembers(
      models,
      { run: 'ann', address: 'ann:1' },
      { clock: time, after: time.after, onError: (error) => void failures.push(error) },
    );
    open.push(ann);
    await member('bob', fakeClock());
    await ann.look();
    isAway = true;
    for (let beat = 1; beat <= 10; beat++) {
      time.pass(BEAT_MS);
      await eventually(() => failures.length === beat && time.isDue(BEAT_MS));
    }
    expect(ann.liveNodes().has('bob')).to.equal(true);
    isAway = false;
    await ann.look();
    expect(ann.liveNodes().has('bob')).to.equal(true);
  });
});
