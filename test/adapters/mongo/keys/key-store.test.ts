/** The key database under a secret: contents, access, and reports of damage. */
import { randomBytes } from 'node:crypto';
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import { expect } from 'chai';
import { Binary } from 'mongodb';
import { WrongSecret } from '../../../../adapters/crypto/wrapping.js';
import { INSTALLATION } from '../../../../adapters/mongo/keys/key-rows.js';
import type { SecretSource } from '../../../../adapters/mongo/keys/key-store.js';
import { UnavailableError, UndecryptableError } from '../../../../application/ports/index.js';
import {
  deposable,
  interrupted,
  NEW,
  OLD,
  open,
  opened,
  rotation,
  rowsOf,
  SUBJECTS,
  useKeyDatabases,
  withoutPrimary,
} from '../key-databases.js';

describe('the key database', function () {
  this.timeout(120_000);
  const { freshDatabase, filled, findsIn } = useKeyDatabases();

  it('contains no key in clear and returns keys', async () => {
    const { db, before } = await filled({ configured: OLD });
    const rows = await rowsOf(db).find().toArray();
    expect(rows).to.have.length(6);
    const text = rows.map((row) => (row.wrapped ? Buffer.from(row.wrapped.buffer).toString('hex') : '')).join();
    for (const key of before) expect(text).not.to.contain(key);
    for (const row of rows) expect(row).not.to.have.property('key');
    expect(await opened(db, { configured: OLD })).to.deep.equal(before);
  });

  it('refuses a wrong or missing secret in one line and changes nothing', async () => {
    const { db } = await filled({ configured: OLD });
    const rows = await rowsOf(db).find().toArray();
    const sources: readonly Partial<SecretSource>[] = [{ configured: NEW }, {}];
    for (const source of sources) {
      const refused = await rejection(open(db, source));
      expect(refused).to.be.instanceOf(WrongSecret);
      expect(refused)
        .to.have.property('message')
        .that.matches(/^secret (is not set|does not match).*[^\n]$/);
    }
    expect(await rowsOf(db).find().toArray()).to.deep.equal(rows);
    expect(await db.listCollections().toArray()).to.have.length(1);
  });

  it('creates a second key for a subject whose key was destroyed only on renewal, one for all callers', async () => {
    const { keys } = await open(await freshDatabase(), { configured: OLD });
    const [first, late, ...fresh] = [1, 2, 3, 4].map((byte) => Buffer.alloc(32, byte));
    expect(await keys.renew('toys.day-1', first!)).to.deep.equal(first);
    expect(await keys.renew('toys.day-1', late!)).to.deep.equal(first);
    await keys.destroy('toys.day-1');
    expect(await keys.create('toys.day-1', late!)).to.equal(undefined);
    const renewed = await Promise.all(fresh.map((each) => keys.renew('toys.day-1', each)));
    expect(fresh).to.deep.include(renewed[0]);
    expect(renewed[1]).to.deep.equal(renewed[0]);
    expect(await keys.read('toys.day-1')).to.deep.equal(renewed[0]);
  });

  it('returns the key that another node has renewed in the same moment', async () => {
    const db = freshDatabase();
    const { keys } = await open(db, { configured: OLD });
    const [quick, slow] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    await keys.destroy('toys.day-1');
    let calls = 0;
    const late = interrupted(db, (name) =>
      // The first call finds the destroyed mark; the second replaces it.
      name === 'findOneAndUpdate' && ++calls === 3 ? keys.renew('toys.day-1', quick).then(() => {}) : undefined,
    );
    const { keys: other } = await open(late, { configured: OLD });
    expect(await other.renew('toys.day-1', slow)).to.deep.equal(quick);
    expect(await keys.read('toys.day-1')).to.deep.equal(quick);
  });

  it('detects swapped keys', async () => {
    const { db } = await filled({ configured: OLD });
    const [one, two] = await rowsOf(db)
      .find({ _id: { $in: [SUBJECTS[0]!, SUBJECTS[1]!] } })
      .toArray();
    await rowsOf(db).updateOne({ _id: one!._id }, { $set: { wrapped: two!.wrapped! } });
    const { keys } = await open(db, { configured: OLD });
    expect(await rejection(keys.read(one!._id))).to.be.instanceOf(UndecryptableError);
    expect(await keys.read(two!._id)).to.have.length(32);
  });

  it('reports a key of an unknown secret as damaged', async () => {
    const { db } = await filled({ configured: OLD });
    const [victim = '', other = ''] = SUBJECTS;
    await rowsOf(db).updateOne({ _id: victim }, { $set: { under: 'damaged' } });
    const { keys } = await open(db, { configured: OLD });
    expect(await rejection(keys.read(victim))).to.be.instanceOf(UndecryptableError);
    expect(await keys.read(other)).to.have.length(32);
  });

  it('does not report a key as missing on the word of a server that takes no writes', async () => {
    const { db, before } = await filled({ configured: OLD });
    await rotation(db, { configured: OLD, next: NEW });
    const { db: deposed, depose } = deposable(db);
    const stale = await open(deposed, { configured: NEW });
    const late = await open(db, { configured: NEW });
    const key = randomBytes(32);
    await late.keys.create('room:late', key);
    depose();
    expect(await rejection(stale.keys.read('room:late'))).to.be.instanceOf(UnavailableError);
    expect(await rejection(stale.keys.read('room:never'))).to.be.instanceOf(UnavailableError);
    depose(false);
    const found = await Promise.all(['room:late', 'room:never', SUBJECTS[0]!].map(stale.keys.read));
    expect(found).to.deep.equal([key, undefined, Buffer.from(before[1]!, 'hex')]);
  });

  it('reads keys from any member with majority concern where replicas suffice, and only trusts a majority', async () => {
    const { db, before } = await filled({ configured: OLD });
    const { keys } = await open(db, { configured: OLD });
    const [, , , , erased = ''] = SUBJECTS;
    const already = findsIn(db).length;
    const found = await Promise.all([SUBJECTS[0]!, erased, 'room:never'].map((each) => keys.readReplica?.(each)));
    expect(found).to.deep.equal([Buffer.from(before[1]!, 'hex'), undefined, undefined]);
    const [query, ...more] = findsIn(db).slice(already);
    expect(more).to.deep.equal([]);
    expect(query).to.deep.include({
      readConcern: { level: 'majority' },
      $readPreference: { mode: 'primaryPreferred' },
    });
  });

  it('asks secondaries for a key when the primary is slow', async () => {
    const { db, before } = await filled({ configured: OLD });
    const key = Buffer.from(before[1]!, 'hex');
    for (const silence of [() => new Promise<void>(() => {}), () => Promise.reject(new UnavailableError('frozen'))]) {
      const frozen = withoutPrimary(db, silence);
      const { keys } = await open(frozen.db, { configured: OLD });
      frozen.begin();
      expect(await keys.readReplica?.(SUBJECTS[0]!)).to.deep.equal(key);
      expect(frozen.preferences).to.deep.equal(['primaryPreferred', 'secondaryPreferred']);
    }
  });

  it('reports a damaged link that keys need, with what to do, and ignores one that none needs', async () => {
    const { db, before } = await filled({ configured: OLD });
    const { keys: running } = await open(db, { configured: OLD });
    await rotation(db, { configured: OLD, next: NEW });
    const secrets = db.collection<{ _id: string }>('secrets');
    const { _id = '' } = (await secrets.findOne()) ?? {};
    await secrets.updateOne({ _id }, { $set: { wrapped: new Binary(randomBytes(60)) } });
    expect(await opened(db, { configured: NEW })).to.deep.equal(before);

    await running.create('room:behind', randomBytes(32));
    const refused = await rejection(open(db, { configured: NEW }));
    expect(refused)
      .to.be.instanceOf(UnavailableError)
      .with.property('message')
      .that.matches(
        new RegExp(`^the row ${_id} of ${db.databaseName}.secrets is damaged: .* room:behind.*backup.*[^\n]$`),
      )
      .and.includes('delete the row, and the data encrypted with them will be shown as erased');
    await secrets.deleteOne({ _id });
    expect(await opened(db, { configured: NEW })).to.deep.equal(before);
    const { keys } = await open(db, { configured: NEW });
    // As of an unknown secret: it can never be opened.
    expect(await rejection(keys.read('room:behind'))).to.be.instanceOf(UndecryptableError);
  });

  it("never suggests deleting a link that the installation's key needs", async () => {
    const { db, before } = await filled({ configured: OLD });
    const installation = (await rowsOf(db).findOne({ _id: INSTALLATION }))!;
    await rotation(db, { configured: OLD, next: NEW });
    // As after a rotation killed before its first key.
    await rowsOf(db).replaceOne({ _id: INSTALLATION }, { wrapped: installation.wrapped!, under: installation.under! });
    await db.collection('secrets').updateMany({}, { $unset: { wrapped: true } });
    expect(await rejection(open(db, { configured: NEW })))
      .to.have.property('message')
      .that.includes('the key of installation')
      .and.includes('configure the former secret again')
      .and.not.includes('delete');
    expect((await open(db, { configured: OLD })).installation.toString('hex')).to.equal(before[0]);
  });
});
