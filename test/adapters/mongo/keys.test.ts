/** The key database under a secret: what it holds, who opens it, and how the secret is changed without losing a key. */
import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Binary, type Db, MongoClient } from 'mongodb';
import { type KeptSecret, WrongSecret } from '../../../adapters/crypto/wrapping.js';
import { secretBesideKeys } from '../../../adapters/mongo/kept-secret.js';
import { INSTALLATION, type KeyRow } from '../../../adapters/mongo/key-rows.js';
import { openKeys, type SecretSource } from '../../../adapters/mongo/keys.js';
import { NoNewSecret, rotate } from '../../../adapters/mongo/rotation.js';
import { secretFile } from '../../../adapters/system/secret-file.js';
import { Unavailable, Unopenable } from '../../../application/ports.js';
import { quiet, temporaryDirectory } from '../../support/engines.js';
import { rejection } from '../../support/eventstore-client.js';
import { type MongoServer, mongoServer } from '../../support/mongo.js';

const [OLD, NEW, OTHER] = ['old', 'new', 'other'].map(
  (name) => `${name} secret of these tests, long enough`,
) as [string, string, string];
const SUBJECTS = Array.from({ length: 5 }, (_, index) => `room:${index}`);

describe('the key database', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  const databases: Db[] = [];
  let server: MongoServer;
  let client: MongoClient;
  before(async () => {
    server = await mongoServer();
    client = new MongoClient(server.url, { promoteLongs: false });
  });
  after(async () => {
    await Promise.all(databases.map((db) => db.dropDatabase()));
    await client.close();
    await server.stop();
    directory.remove();
  });

  function freshDatabase(): Db {
    const db = client.db(`keys_${randomUUID().slice(0, 8)}`);
    databases.push(db);
    return db;
  }
  const rowsOf = (db: Db) => db.collection<KeyRow>('keys');
  const inFile = () => secretFile(`${directory.path}/${randomUUID()}`);
  const open = (db: Db, source: Partial<SecretSource>) =>
    openKeys(db, { kept: secretBesideKeys(db), ...source }, randomBytes(32), quiet);
  /** Everything that these secrets open, by subject, as hex. */
  const opened = async (db: Db, source: Partial<SecretSource>) => {
    const { keys, installation } = await open(db, source);
    const found = await Promise.all(
      SUBJECTS.map(async (subject) => (await keys.read(subject))?.toString('hex') ?? 'missing'),
    );
    return [installation.toString('hex'), ...found];
  };
  /** A database with some keys, one of them destroyed. */
  async function filled(source: Partial<SecretSource>, db = freshDatabase()) {
    const { keys } = await open(db, source);
    for (const subject of SUBJECTS) await keys.create(subject, randomBytes(32));
    await keys.destroy(SUBJECTS[4]!);
    const before = await opened(db, source);
    expect(before.map((key) => (key.length === 64 ? 'a key' : key))).to.deep.equal([
      ...Array(5).fill('a key'),
      'destroyed',
    ]);
    return { db, before };
  }
  const rotation = (db: Db, options: Partial<Parameters<typeof rotate>[1]>) =>
    rotate(db, { kept: secretBesideKeys(db), fresh: randomBytes(32), logger: quiet, ...options });

  it('holds no key in clear, and gives them back', async () => {
    const { db, before } = await filled({ given: OLD });
    const rows = await rowsOf(db).find().toArray();
    expect(rows).to.have.length(6);
    const text = rows
      .map((row) => (row.wrapped ? Buffer.from(row.wrapped.buffer).toString('hex') : ''))
      .join();
    for (const key of before) expect(text).not.to.contain(key);
    for (const row of rows) expect(row).not.to.have.property('key');
    expect(await opened(db, { given: OLD })).to.deep.equal(before);
  });

  it('refuses another secret, and none, in one line, and changes nothing', async () => {
    const { db } = await filled({ given: OLD });
    const rows = await rowsOf(db).find().toArray();
    for (const source of [{ given: NEW }, {}]) {
      const refused = await rejection(open(db, source));
      expect(refused).to.be.instanceOf(WrongSecret);
      expect(refused)
        .to.have.property('message')
        .that.matches(/^secret is .*[^\n]$/);
    }
    expect(await rowsOf(db).find().toArray()).to.deep.equal(rows);
    expect(await db.listCollections().toArray()).to.have.length(1);
  });

  it('notices keys that are swapped', async () => {
    const { db } = await filled({ given: OLD });
    const [one, two] = await rowsOf(db)
      .find({ _id: { $in: [SUBJECTS[0]!, SUBJECTS[1]!] } })
      .toArray();
    await rowsOf(db).updateOne({ _id: one!._id }, { $set: { wrapped: two!.wrapped! } });
    const { keys } = await open(db, { given: OLD });
    expect(await rejection(keys.read(one!._id))).to.be.instanceOf(Unopenable);
    expect(await keys.read(two!._id)).to.have.length(32);
  });

  it('takes a key for damaged whose secret nobody ever had', async () => {
    const { db } = await filled({ given: OLD });
    const [victim = '', other = ''] = SUBJECTS;
    await rowsOf(db).updateOne({ _id: victim }, { $set: { under: 'damaged' } });
    const { keys } = await open(db, { given: OLD });
    expect(await rejection(keys.read(victim))).to.be.instanceOf(Unopenable);
    expect(await keys.read(other)).to.have.length(32);
  });

  it('takes no key for missing by the word of a server that takes no writes', async () => {
    const { db, before } = await filled({ given: OLD });
    await rotation(db, { given: OLD, next: NEW });
    const { db: deposed, depose } = deposable(db);
    const stale = await open(deposed, { given: NEW });
    const late = await open(db, { given: NEW });
    const key = randomBytes(32);
    await late.keys.create('room:late', key);
    depose();
    expect(await rejection(stale.keys.read('room:late'))).to.be.instanceOf(Unavailable);
    expect(await rejection(stale.keys.read('room:never'))).to.be.instanceOf(Unavailable);
    depose(false);
    const found = await Promise.all(['room:late', 'room:never', SUBJECTS[0]!].map(stale.keys.read));
    expect(found).to.deep.equal([key, undefined, Buffer.from(before[1]!, 'hex')]);
  });

  it('wraps the keys of a release that left them in clear', async () => {
    const db = freshDatabase();
    const clear = [INSTALLATION, ...SUBJECTS].map((_id) => ({ _id, key: new Binary(randomBytes(32)) }));
    await rowsOf(db).insertMany(clear);
    const expected = clear.map(({ key }) => Buffer.from(key.buffer).toString('hex'));
    const { installation } = await open(db, { given: OLD });
    expect(installation.toString('hex')).to.equal(expected[0]);
    expect(await rowsOf(db).countDocuments({ key: { $exists: true } })).to.equal(0);
    expect(await opened(db, { given: OLD })).to.deep.equal(expected);
    // One that a node of that release makes meanwhile.
    const late = { _id: 'room:late', key: new Binary(randomBytes(32)) };
    await rowsOf(db).insertOne(late);
    const { keys } = await open(db, { given: OLD });
    expect(await keys.read('room:late')).to.deep.equal(Buffer.from(late.key.buffer));
    expect(await rowsOf(db).countDocuments({ key: { $exists: true } })).to.equal(0);
  });

  it('wraps keys in clear under one secret, and starts nobody with another, when two start at once', async () => {
    const db = freshDatabase();
    const clear = [INSTALLATION, ...SUBJECTS].map((_id) => ({ _id, key: new Binary(randomBytes(32)) }));
    await rowsOf(db).insertMany(clear);
    const expected = clear.map(({ key }) => Buffer.from(key.buffer).toString('hex'));
    const starts = await Promise.allSettled([OLD, NEW].map((given) => open(db, { given })));
    const [won, lost] = starts[0]!.status === 'fulfilled' ? [OLD, starts[1]!] : [NEW, starts[0]!];
    expect(lost).to.have.property('reason').that.is.instanceOf(WrongSecret);
    expect(await opened(db, { given: won })).to.deep.equal(expected);
    expect(await rowsOf(db).countDocuments({ key: { $exists: true } })).to.equal(0);
  });

  for (const [where, keptOf] of [
    ['in a file', inFile],
    ['beside the keys', secretBesideKeys],
  ] as const) {
    it(`makes a secret at the first start and keeps it ${where}, once for all who start at once`, async () => {
      const db = freshDatabase();
      const kept = keptOf(db);
      const starts = await Promise.all(Array.from({ length: 5 }, () => open(db, { kept })));
      expect(new Set(starts.map(({ installation }) => installation.toString('hex'))).size).to.equal(1);
      expect(await kept.read()).to.have.length.greaterThan(32);
      await kept.remove();
      expect(await rejection(open(db, { kept }))).to.be.instanceOf(WrongSecret);
      expect(await kept.read()).to.equal(undefined);
    });

    it(`rotates a secret kept ${where} under running nodes`, async () => {
      const db = freshDatabase();
      const kept = keptOf(db);
      const { before } = await filled({ kept }, db);
      const { keys: running } = await open(db, { kept });
      const former = await kept.read();
      expect(await rotation(db, { kept })).to.deep.equal({ wrapped: 5, unopened: [], isKept: true });
      expect(await kept.read()).not.to.equal(former);
      // It makes one before it hears of the rotation, and one after.
      await running.create('room:behind', randomBytes(32));
      expect((await running.read(SUBJECTS[0]!))?.toString('hex')).to.equal(before[1]);
      await running.create('room:after', randomBytes(32));
      expect(await opened(db, { kept })).to.deep.equal(before);
      const { keys } = await open(db, { kept });
      for (const subject of ['room:behind', 'room:after'])
        expect(await keys.read(subject)).to.have.length(32);
      expect(await rejection(open(db, { given: former }))).to.be.instanceOf(WrongSecret);
      const names = new Set((await rowsOf(db).find().toArray()).map(({ under }) => under));
      names.delete(undefined);
      expect(names.size).to.equal(1);
    });
  }

  it('rotates a configured secret to one that is named, and nodes with the former say what to do', async () => {
    const { db, before } = await filled({ given: OLD });
    const { keys: running } = await open(db, { given: OLD });
    expect(await rejection(rotation(db, { given: OLD }))).to.be.instanceOf(NoNewSecret);
    expect(await rotation(db, { given: OLD, next: NEW })).to.deep.equal({
      wrapped: 5,
      unopened: [],
      isKept: false,
    });
    expect(await opened(db, { given: NEW })).to.deep.equal(before);
    expect(await rejection(open(db, { given: OLD }))).to.be.instanceOf(WrongSecret);
    const refused = await rejection(running.read(SUBJECTS[0]!));
    expect(refused)
      .to.be.instanceOf(Unavailable)
      .with.property('message')
      .that.matches(/start this node with it/);
    // What it makes meanwhile is not lost.
    await running.create('room:behind', randomBytes(32));
    const { keys } = await open(db, { given: NEW });
    expect(await keys.read('room:behind')).to.have.length(32);
    // Done is done; and the way back is open.
    expect(await rotation(db, { given: OLD, next: NEW })).to.include({ wrapped: 0 });
    await rotation(db, { given: NEW, next: OLD });
    await rotation(db, { given: OLD, next: OTHER });
    expect(await opened(db, { given: OTHER })).to.deep.equal(before);
    expect(await rejection(open(db, { given: NEW }))).to.be.instanceOf(WrongSecret);
  });

  it('names a damaged link that keys need, with what to do, and passes one that none needs', async () => {
    const { db, before } = await filled({ given: OLD });
    const { keys: running } = await open(db, { given: OLD });
    await rotation(db, { given: OLD, next: NEW });
    const secrets = db.collection<{ _id: string }>('secrets');
    const { _id = '' } = (await secrets.findOne()) ?? {};
    await secrets.updateOne({ _id }, { $set: { wrapped: new Binary(randomBytes(60)) } });
    expect(await opened(db, { given: NEW })).to.deep.equal(before);

    await running.create('room:behind', randomBytes(32));
    const refused = await rejection(open(db, { given: NEW }));
    expect(refused)
      .to.be.instanceOf(Unavailable)
      .with.property('message')
      .that.matches(
        new RegExp(
          `^the row ${_id} of ${db.databaseName}.secrets is damaged: .* room:behind .*backup.*[^\n]$`,
        ),
      )
      .and.includes('delete the row, and what they sealed is shown as erased');
    await secrets.deleteOne({ _id });
    expect(await opened(db, { given: NEW })).to.deep.equal(before);
    const { keys } = await open(db, { given: NEW });
    // As of a secret that nobody ever had: nothing will ever open it.
    expect(await rejection(keys.read('room:behind'))).to.be.instanceOf(Unopenable);
  });

  it('never says that a link may be deleted which the key of the installation needs', async () => {
    const { db, before } = await filled({ given: OLD });
    const installation = (await rowsOf(db).findOne({ _id: INSTALLATION }))!;
    await rotation(db, { given: OLD, next: NEW });
    // As it is when the rotation is killed before it comes to any key.
    await rowsOf(db).replaceOne(
      { _id: INSTALLATION },
      { wrapped: installation.wrapped!, under: installation.under! },
    );
    await db.collection('secrets').updateMany({}, { $unset: { wrapped: true } });
    expect(await rejection(open(db, { given: NEW })))
      .to.have.property('message')
      .that.includes('of installation for one')
      .and.includes('the former secret itself, configured again')
      .and.not.includes('delete');
    expect((await open(db, { given: OLD })).installation.toString('hex')).to.equal(before[0]);
  });

  it('goes from a kept secret to a configured one, and keeps the kept one no longer', async () => {
    const db = freshDatabase();
    const kept = inFile();
    const { before } = await filled({ kept }, db);
    expect(await rejection(open(db, { given: NEW, kept }))).to.be.instanceOf(WrongSecret);
    await rotation(db, { given: NEW, kept });
    expect(await kept.read()).to.equal(undefined);
    expect(await opened(db, { given: NEW, kept })).to.deep.equal(before);
  });

  it('brings back no key that is destroyed while the secret is rotated', async () => {
    const { db } = await filled({ given: OLD });
    const [victim = ''] = SUBJECTS;
    const { keys } = await open(db, { given: OLD });
    // The installation's key is written first, then all others.
    let writes = 0;
    const slow = interrupted(db, (name) =>
      name === 'bulkWrite' && ++writes === 2 ? keys.destroy(victim) : undefined,
    );
    await rotation(slow, { given: OLD, next: NEW });
    const after = await opened(db, { given: NEW });
    expect(after[1]).to.equal('destroyed');
    expect(await rowsOf(db).findOne({ _id: victim })).to.have.all.keys('_id', 'destroyedAt');
  });

  it('keeps the secret that is in force when two rotate at once, of which one was frozen', async () => {
    const kept = inFile();
    const { db, before } = await filled({ kept });
    let isFrozen = false;
    const frozen = interrupted(db, (name) => {
      if (name !== 'replaceOne' || isFrozen) return undefined;
      isFrozen = true;
      return rotation(db, { kept }).then(() => {});
    });
    expect(await rejection(rotation(frozen, { kept }))).to.be.instanceOf(WrongSecret);
    expect(await opened(db, { kept })).to.deep.equal(before);
  });

  it('changes nothing once another process may be rotating', async () => {
    const kept = inFile();
    const { db, before } = await filled({ kept });
    for (const most of [0, 1]) {
      const former = await kept.read();
      let asked = 0;
      const assertAlone = () => {
        if (asked++ >= most) throw new Unavailable('no longer alone');
      };
      expect(await rejection(rotation(db, { kept, assertAlone }))).to.be.instanceOf(Unavailable);
      expect(await kept.read()).to.equal(former);
      expect(await db.collection('secrets').countDocuments()).to.equal(most);
    }
    expect(await opened(db, { kept })).to.deep.equal(before);
  });

  it('refuses to rotate what no secret at hand opens', async () => {
    const { db, before } = await filled({ given: OLD });
    for (const options of [{ given: NEW }, { given: NEW, next: OTHER }, { next: OTHER }, {}])
      expect(await rejection(rotation(db, options))).to.be.instanceOf(WrongSecret);
    expect(await opened(db, { given: OLD })).to.deep.equal(before);
  });

  it('tells of keys that it can not open, and leaves them', async () => {
    const { db } = await filled({ given: OLD });
    const { under } = (await rowsOf(db).findOne({ _id: INSTALLATION })) ?? {};
    const others = [
      { _id: 'room:foreign', wrapped: new Binary(randomBytes(60)), under: 'unknown' },
      { _id: 'room:damaged', wrapped: new Binary(randomBytes(60)), under: under! },
      { _id: 'room:empty' },
    ];
    await rowsOf(db).insertMany(others);
    const told: number[] = [];
    const { unopened, ...outcome } = await rotation(db, {
      given: OLD,
      next: NEW,
      progress: (wrapped) => told.push(wrapped),
    });
    expect(outcome).to.deep.equal({ wrapped: 5, isKept: false });
    expect([...unopened].sort()).to.deep.equal(['room:damaged', 'room:empty', 'room:foreign']);
    expect(
      await rowsOf(db)
        .find({ _id: { $in: others.map(({ _id }) => _id) } })
        .toArray(),
    ).to.have.deep.members(others);
    // The installation's own key counts too.
    expect([told[0], told.at(-1)]).to.deep.equal([5, 5]);
  });

  it('are wrapped anew in batches, each told of, under the secret in force alone', async () => {
    const { db } = await filled({ given: OLD });
    const many = Array.from({ length: 501 }, (_, n) => ({
      _id: `many:${n}`,
      key: new Binary(randomBytes(32)),
    }));
    await rowsOf(db).insertMany(many);
    const told: number[] = [];
    const rotated = await rotation(db, { given: OLD, next: NEW, progress: (wrapped) => told.push(wrapped) });
    expect(rotated).to.deep.equal({ wrapped: 506, unopened: [], isKept: false });
    expect(told.slice(0, 2)).to.deep.equal([501, 506]);
    const names = new Set(
      (
        await rowsOf(db)
          .find({ destroyedAt: { $exists: false } })
          .toArray()
      ).map((row) => row.under),
    );
    expect(names.size).to.equal(1);
    expect(await rowsOf(db).countDocuments({ key: { $exists: true } })).to.equal(0);
  });

  const KINDS: [
    name: string,
    source: (kept: KeptSecret) => Partial<SecretSource>,
    next: string | undefined,
  ][] = [
    ['a configured secret', (kept) => ({ given: OLD, kept }), NEW],
    ['a kept secret', (kept) => ({ kept }), undefined],
  ];
  for (const [name, sourceOf, next] of KINDS)
    it(`loses no key when the rotation of ${name} is killed at any write, and goes on when it is repeated`, async () => {
      for (const looksFirst of [true, false]) {
        let finished = false;
        let writes = 0;
        for (; !finished; writes++) {
          const kept = inFile();
          const named = next ? { next } : {};
          const { db, before } = await filled(sourceOf(kept));
          const killer = killAfter(writes);
          const killed = rotation(killer.database(db), { ...sourceOf(killer.kept(kept)), ...named });
          finished = await killed.then(
            () => true,
            ({ message }) => message !== 'killed',
          );
          if (looksFirst) {
            const sources = [sourceOf(kept), ...(next ? [{ given: next }] : [])];
            const found = await Promise.all(
              sources.map((source) => opened(db, source).catch(() => undefined)),
            );
            expect(found.filter(Boolean), `${writes} writes`).to.deep.include(before);
          }
          await rotation(db, { ...sourceOf(kept), ...named });
          expect(await opened(db, next ? { given: next } : { kept })).to.deep.equal(before);
          if (next) expect(await rejection(open(db, { given: OLD }))).to.be.instanceOf(WrongSecret);
        }
        expect(writes).to.be.greaterThan(3);
      }
    });
});

/** The same database, where something else happens before each call. */
const interrupted = <T extends object>(target: T, first: (name: string) => Promise<void> | undefined): T =>
  new Proxy(target, {
    get(object, name) {
      const value = Reflect.get(object, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (name === 'collection') return interrupted(value.apply(object, args), first);
        const happened = first(String(name));
        return happened ? happened.then(() => value.apply(object, args)) : value.apply(object, args);
      };
    },
  });

const WRITES = new Set([
  'updateOne',
  'replaceOne',
  'findOneAndUpdate',
  'bulkWrite',
  'deleteOne',
  'replace',
  'remove',
]);

/** Lets so many writes through, half of the next if it is of many, and nothing after. */
function killAfter(writes: number) {
  let left = writes;
  const guard = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(object, name) {
        const value = Reflect.get(object, name);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          if (name === 'collection') return guard(value.apply(object, args));
          if (!WRITES.has(String(name)) || left-- > 0) return value.apply(object, args);
          const killed = () => Promise.reject(new Error('killed'));
          const [many, ...rest] = args;
          if (left === -1 && Array.isArray(many) && many.length > 1)
            return value.call(object, many.slice(many.length / 2), ...rest).then(killed);
          return killed();
        };
      },
    });
  return { database: (db: Db) => guard(db), kept: (kept: KeptSecret) => guard(kept) };
}

/** A database that, once deposed, finds nothing and takes no writes, as a primary does that was frozen meanwhile. */
function deposable(db: Db) {
  let isDeposed = false;
  const collection = (name: string) =>
    new Proxy(db.collection(name), {
      get(target, member) {
        if (isDeposed && member === 'findOne') return async () => null;
        if (isDeposed && member === 'updateOne')
          return async () => Promise.reject(new Unavailable('deposed'));
        const value: unknown = Reflect.get(target, member, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  const proxy = new Proxy(db, {
    get: (target, member) => (member === 'collection' ? collection : Reflect.get(target, member, target)),
  });
  return {
    db: proxy,
    depose(now = true) {
      isDeposed = now;
    },
  };
}
