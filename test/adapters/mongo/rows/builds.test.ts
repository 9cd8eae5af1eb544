/** Collections of read model builds: lookup, composition and deletion. */
import { randomUUID } from 'node:crypto';
import { collect, rejection } from '@annals/engines/testing/eventstore-client.js';
import { type MongoServer, mongoServer } from '@annals/engines/testing/mongo.js';
import { expect } from 'chai';
import { Long, MongoServerError } from 'mongodb';
import { connectMongo, type Mongo } from '../../../../adapters/mongo/client.js';
import { createBuilds, createRows } from '../../../../adapters/mongo/rows/row-store.js';
import { type RecordedEvent, UnavailableError, type Vault } from '../../../../application/ports/index.js';
import type { DomainEvent } from '../../../../domain/shared/decider.js';
import type { Build, Builds, OwnProjection, Projection, Row } from '../../../../projections/kernel/projection.js';

const held = { assertHeld() {} };
const toys: Projection<DomainEvent> = {
  name: 'toys.list',
  version: 1,
  indexes: [{ key: { size: 1 }, name: 'by size' }],
  on: {
    Put: ({ data }) => [{ put: String(data.toy), update: { $set: { size: data.size } } }],
    Mended: ({ data }) => [{ patch: String(data.toy), update: { $set: { mended: true } } }],
    Lost: ({ data }) => [{ remove: String(data.toy) }],
    Sorted: ({ data }) => [{ purge: { size: data.size } }],
  },
};

describe('builds of read models', () => {
  let server: MongoServer;
  let mongo: Mongo;
  let builds: Builds;
  let name: string;
  let position: bigint;

  before(async () => {
    server = await mongoServer();
    mongo = await connectMongo(server.url, `test_${randomUUID().slice(0, 8)}`);
    builds = createBuilds(mongo.models, {} as Vault);
  });
  after(async () => {
    await mongo?.models.dropDatabase();
    await mongo?.close();
    await server?.stop();
  });
  beforeEach(() => {
    [name, position] = [`toys_list_v1_${randomUUID().replaceAll('-', '')}`, 9_007_199_254_740_993n];
  });

  const event = (type: string, data: object): RecordedEvent => ({
    id: randomUUID(),
    stream: 'toys.box-1',
    revision: 0,
    version: 1,
    recordedAt: 1_800_000_000_000,
    position: position++,
    type,
    data: { ...data },
    metadata: {},
  });
  const put = (toy: string, size: number) => event('Put', { toy, size });
  const raw = (collection = name) => mongo.models.collection<Row>(collection).find({}).sort({ _id: 1 }).toArray();

  it("apply each event once, by the row's position to its last digit", async () => {
    const apply = await builds.open(toys, name, held);
    const events = [put('bear', 3), put('car', 1), event('Mended', { toy: 'bear' }), event('Mended', { toy: 'ghost' })];
    await apply(events);
    await apply([event('Unknown', {})]);
    const rows = [
      { _id: 'bear', size: 3, mended: true, _at: Long.fromBigInt(events[2]!.position) },
      { _id: 'car', size: 1, _at: Long.fromBigInt(events[1]!.position) },
    ];
    const plain = async () => JSON.parse(JSON.stringify(await raw()));
    const before = await plain();
    expect(before.map(({ _id }: Row) => _id)).to.deep.equal(['bear', 'car']);
    expect((await raw()).map(({ _at }) => _at.toBigInt())).to.deep.equal(rows.map(({ _at }) => _at.toBigInt()));
    await apply(events);
    expect(await plain()).to.deep.equal(before);
    // Later only in the last digit, as events of one append are.
    await apply([put('bear', 5)]);
    expect((await raw())[0]).to.include({ _id: 'bear', mended: true });
  });

  it('remember a removed row for a day, so that an old event does not restore it', async () => {
    const apply = await builds.open(toys, name, held);
    const old = put('bear', 3);
    const lost = event('Lost', { toy: 'bear' });
    await apply([old, put('car', 2), lost]);
    await apply([old]);
    const [gone] = await raw();
    expect(gone).to.have.all.keys('_id', '_at', 'gone', 'goneAt');
    expect(gone?.goneAt).to.deep.equal(new Date(lost.recordedAt));
    expect((await collect(builds.scan(toys, name))).map(({ _id }) => _id)).to.deep.equal(['car']);
    const indexes = await mongo.models.collection(name).listIndexes().toArray();
    expect(indexes.map((each) => each.name)).to.have.members(['_id_', 'by size', 'gone']);
    const obsolete = indexes.find((each) => each.name === 'gone');
    expect(Number(obsolete?.expireAfterSeconds)).to.equal(86_400);
    // Existing rows take no space there.
    expect(obsolete?.sparse).to.equal(true);
    // An unknown row counts as removed.
    await apply([event('Lost', { toy: 'new' })]);
    await apply([{ ...put('new', 1), position: 5n }]);
    expect((await collect(builds.scan(toys, name))).map(({ _id }) => _id)).to.deep.equal(['car']);
  });

  it('have their indexes, however often they are opened', async () => {
    await builds.open(toys, name, held);
    const apply = await builds.open(toys, name, held);
    await apply([put('bear', 3)]);
    const indexes = await mongo.models.collection(name).listIndexes().toArray();
    expect(indexes.map((each) => each.name)).to.have.members(['_id_', 'by size', 'gone']);
    // Other errors are reported.
    const wrong = {
      ...toys,
      indexes: [{ key: { size: 1, _id: 0 }, name: 'wrong' }],
    } as unknown as typeof toys;
    expect(await rejection(builds.open(wrong, name, held))).to.be.instanceOf(MongoServerError);
  });

  it('purge only rows older than the purging event', async () => {
    const apply = await builds.open(toys, name, held);
    const early = [put('car', 1), put('kite', 1), put('bear', 3)];
    const sorted = event('Sorted', { size: 1 });
    await apply([...early, put('late', 1)]);
    await apply([sorted]);
    expect((await raw()).map(({ _id }) => _id)).to.deep.equal(['bear', 'late']);
  });

  it('are read by filter, order and limit, without removed rows', async () => {
    const rows = createRows(mongo.models, (projection) => (projection === toys.name ? name : undefined));
    const apply = await builds.open(toys, name, held);
    await apply([put('a', 3), put('b', 1), put('c', 2), put('d', 1), event('Lost', { toy: 'c' })]);
    const find = async (query: Partial<Parameters<typeof rows.find>[1]>, projection = toys.name) =>
      (await rows.find<Row>(projection, { filter: {}, ...query })).map(({ _id }) => _id);
    expect(await find({ sort: { _id: 1 } })).to.deep.equal(['a', 'b', 'd']);
    expect(await find({ sort: { _id: -1 } })).to.deep.equal(['d', 'b', 'a']);
    expect(await find({ sort: { size: 1, _id: -1 }, filter: { size: { $gt: 0 } } })).to.deep.equal(['d', 'b', 'a']);
    expect(await find({ sort: { _id: 1 }, limit: 1 })).to.deep.equal(['a']);
    expect(await find({ filter: { size: 1 }, sort: { _id: 1 } })).to.deep.equal(['b', 'd']);
    expect(await find({}, 'toys.unknown')).to.deep.equal([]);
  });

  it('are not mistaken for empty once dropped', async () => {
    const rows = createRows(mongo.models, () => name);
    await builds.open(toys, name, held);
    expect(await rows.find(toys.name, { filter: {} })).to.deep.equal([]);
    await builds.drop(name);
    expect(await rejection(rows.find(toys.name, { filter: {} }))).to.be.instanceOf(UnavailableError);
  });

  /** A projection with two collections. */
  const own: OwnProjection & { build?: Build } = {
    name: 'toys.own',
    version: 1,
    async open(build) {
      this.build = build;
      return async (events) => {
        for (const { position, data } of events)
          await build.write(String(data.part), [
            { insertOne: { document: { _id: String(data.toy), _at: Long.fromBigInt(position) } } },
          ]);
      };
    },
    scan: (build) => build.collection<Row>('large').find({}).sort({ _id: 1 }),
  };
  const inOwn = async () => {
    const apply = await builds.open(own, name, held);
    const large = (toy: string) => event('Put', { part: 'large', toy });
    await apply([large('bear'), large('ark'), event('Put', { part: 'small', toy: 'pin' })]);
    return own.build!;
  };

  it('act as one unit, however many collections they have', async () => {
    const build = await inOwn();
    const other = `${name}x`;
    await builds.open(toys, other, held);
    expect([...(await build.parts())].sort()).to.deep.equal(['large', 'small']);
    expect(await Promise.all([name, 'toys_other'].map(builds.count))).to.deep.equal([3, 0]);
    expect([...(await builds.list(name))].sort()).to.deep.equal([name, other]);
    expect(await builds.list('toys_other')).to.deep.equal([]);
    expect((await collect(builds.scan(own, name))).map(({ _id }) => _id)).to.deep.equal(['ark', 'bear']);
    await build.drop('small');
    await build.drop('small');
    expect(await build.parts()).to.deep.equal(['large']);
    await builds.drop(name);
    expect(await builds.list(name)).to.deep.equal([other]);
    await builds.drop(other);
    await builds.drop(other);
    expect(await builds.list(name)).to.deep.equal([]);
  });

  it('write nothing without their lease', async () => {
    const lost = {
      assertHeld() {
        throw new Error('the lease is lost');
      },
    };
    const rows = await builds.open(toys, name, lost);
    await builds.open(own, name, lost);
    expect(await rejection(rows([put('bear', 1)]))).to.have.property('message', 'the lease is lost');
    const write = own.build!.write('large', [{ insertOne: { document: { _id: 'a', _at: Long.ONE } } }]);
    expect(await rejection(write)).to.have.property('message', 'the lease is lost');
    expect(await raw()).to.deep.equal([]);
  });

  it('pass on server errors other than "already done"', async () => {
    const apply = await builds.open(
      { ...toys, on: { Put: () => [{ put: 'bear', update: { $inc: { size: 1 } } }] } },
      name,
      held,
    );
    await mongo.models.collection<Row>(name).insertOne({ _id: 'bear', _at: Long.ONE, size: 'large' });
    expect(await rejection(apply([put('bear', 1)]))).to.be.instanceOf(MongoServerError);
    const refusing = new Proxy(mongo.models, {
      get: (db, member) =>
        member === 'collection'
          ? () => ({ drop: () => Promise.reject(new MongoServerError({ message: 'not so', code: 13 })) })
          : Reflect.get(db, member),
    });
    expect(await rejection(createBuilds(refusing, {} as Vault).drop(name))).to.have.property('code', 13);
  });
});
