/** Rotation of the key database's secret without losing a key, despite kills, freezes and delays. */
import { randomBytes } from 'node:crypto';
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import { expect } from 'chai';
import { Binary } from 'mongodb';
import { type StoredSecret, WrongSecret, wrappingUnder } from '../../../../adapters/crypto/wrapping.js';
import { INSTALLATION, wrappedFields } from '../../../../adapters/mongo/keys/key-rows.js';
import type { SecretSource } from '../../../../adapters/mongo/keys/key-store.js';
import { createStoredSecret } from '../../../../adapters/mongo/keys/keyring.js';
import { NoNewSecret } from '../../../../adapters/mongo/keys/rotate.js';
import { UnavailableError } from '../../../../application/ports/index.js';
import {
  interrupted,
  killAfter,
  NEW,
  OLD,
  OTHER,
  open,
  opened,
  rotation,
  rowsOf,
  SUBJECTS,
  useKeyDatabases,
} from '../key-databases.js';

describe('the secret of the key database', function () {
  this.timeout(120_000);
  const { freshDatabase, filled, inFile, findsIn } = useKeyDatabases();

  for (const [where, storedSecretOf] of [
    ['in a file', inFile],
    ['beside the keys', createStoredSecret],
  ] as const) {
    it(`creates a secret at the first start and stores it ${where}, once for concurrent starts`, async () => {
      const db = freshDatabase();
      const stored = storedSecretOf(db);
      const starts = await Promise.all(Array.from({ length: 5 }, () => open(db, { stored })));
      expect(new Set(starts.map(({ installation }) => installation.toString('hex'))).size).to.equal(1);
      expect(await stored.read()).to.have.length.greaterThan(32);
      await stored.remove();
      expect(await rejection(open(db, { stored }))).to.be.instanceOf(WrongSecret);
      expect(await stored.read()).to.equal(undefined);
    });

    it(`rotates a secret stored ${where} under running nodes`, async () => {
      const db = freshDatabase();
      const stored = storedSecretOf(db);
      const { before } = await filled({ stored }, db);
      const { keys: running } = await open(db, { stored });
      const former = await stored.read();
      expect(await rotation(db, { stored })).to.deep.equal({ wrapped: 5, unopened: [], isStored: true });
      expect(await stored.read()).not.to.equal(former);
      // The node creates a key before and one after it notices the rotation.
      await running.create('room:behind', randomBytes(32));
      expect((await running.read(SUBJECTS[0]!))?.toString('hex')).to.equal(before[1]);
      await running.create('room:after', randomBytes(32));
      expect(await opened(db, { stored })).to.deep.equal(before);
      const { keys } = await open(db, { stored });
      for (const subject of ['room:behind', 'room:after']) expect(await keys.read(subject)).to.have.length(32);
      expect(await rejection(open(db, { configured: former }))).to.be.instanceOf(WrongSecret);
      const names = new Set((await rowsOf(db).find().toArray()).map(({ under }) => under));
      names.delete(undefined);
      expect(names.size).to.equal(1);
    });
  }

  it('rotates a configured secret to another; nodes with the former one report what to do', async () => {
    const { db, before } = await filled({ configured: OLD });
    const { keys: running } = await open(db, { configured: OLD });
    expect(await rejection(rotation(db, { configured: OLD }))).to.be.instanceOf(NoNewSecret);
    expect(await rotation(db, { configured: OLD, next: NEW })).to.deep.equal({
      wrapped: 5,
      unopened: [],
      isStored: false,
    });
    expect(await opened(db, { configured: NEW })).to.deep.equal(before);
    expect(await rejection(open(db, { configured: OLD }))).to.be.instanceOf(WrongSecret);
    const refused = await rejection(running.read(SUBJECTS[0]!));
    expect(refused)
      .to.be.instanceOf(UnavailableError)
      .with.property('message')
      .that.matches(/restart this node with it/);
    // Keys created meanwhile are kept.
    await running.create('room:behind', randomBytes(32));
    const { keys } = await open(db, { configured: NEW });
    expect(await keys.read('room:behind')).to.have.length(32);
    // A repeated rotation changes nothing, and rotating back works.
    expect(await rotation(db, { configured: OLD, next: NEW })).to.include({ wrapped: 0 });
    await rotation(db, { configured: NEW, next: OLD });
    await rotation(db, { configured: OLD, next: OTHER });
    expect(await opened(db, { configured: OTHER })).to.deep.equal(before);
    expect(await rejection(open(db, { configured: NEW }))).to.be.instanceOf(WrongSecret);
  });

  it('moves from a stored secret to a configured one and deletes the stored one', async () => {
    const db = freshDatabase();
    const stored = inFile();
    const { before } = await filled({ stored }, db);
    expect(await rejection(open(db, { configured: NEW, stored }))).to.be.instanceOf(WrongSecret);
    await rotation(db, { configured: NEW, stored });
    expect(await stored.read()).to.equal(undefined);
    expect(await opened(db, { configured: NEW, stored })).to.deep.equal(before);
  });

  it('scans keys among millions of destroyed ones in batches by their index', async () => {
    const { db, before } = await filled({ configured: OLD });
    const marks = Array.from({ length: 4100 }, (_, n) => ({ _id: `gone:${n}`, destroyedAt: new Date() }));
    await rowsOf(db).insertMany(marks);
    const until = findsIn(db).length;
    expect(await rotation(db, { configured: OLD, next: NEW })).to.include({ wrapped: 5 });
    expect(await rejection(rotation(db, { configured: NEW }))).to.be.instanceOf(NoNewSecret);
    for (const { filter, limit } of findsIn(db).slice(until)) {
      expect(Object.keys(filter)).to.deep.equal(['_id']);
      expect(limit).to.be.within(1, 2000);
    }
    expect(await opened(db, { configured: NEW })).to.deep.equal(before);
  });

  it('does not restore a key destroyed during the rotation', async () => {
    const { db } = await filled({ configured: OLD });
    const [victim = ''] = SUBJECTS;
    const { keys } = await open(db, { configured: OLD });
    // The installation's key is written first, then all others.
    let writes = 0;
    const slow = interrupted(db, (name) => (name === 'bulkWrite' && ++writes === 2 ? keys.destroy(victim) : undefined));
    await rotation(slow, { configured: OLD, next: NEW });
    const after = await opened(db, { configured: NEW });
    expect(after[1]).to.equal('destroyed');
    expect(await rowsOf(db).findOne({ _id: victim })).to.have.all.keys('_id', 'destroyedAt');
  });

  it('keeps the secret in force when two rotations run at once and one was frozen', async () => {
    const stored = inFile();
    const { db, before } = await filled({ stored });
    let isFrozen = false;
    const frozen = interrupted(db, (name) => {
      if (name !== 'replaceOne' || isFrozen) return undefined;
      isFrozen = true;
      return rotation(db, { stored }).then(() => {});
    });
    expect(await rejection(rotation(frozen, { stored }))).to.be.instanceOf(WrongSecret);
    expect(await opened(db, { stored })).to.deep.equal(before);
  });

  it('changes nothing once another process may be rotating', async () => {
    const stored = inFile();
    const { db, before } = await filled({ stored });
    for (const most of [0, 1]) {
      const former = await stored.read();
      let checks = 0;
      const assertExclusive = () => {
        if (checks++ >= most) throw new UnavailableError('no longer alone');
      };
      expect(await rejection(rotation(db, { stored, assertExclusive }))).to.be.instanceOf(UnavailableError);
      expect(await stored.read()).to.equal(former);
      expect(await db.collection('secrets').countDocuments()).to.equal(most);
    }
    expect(await opened(db, { stored })).to.deep.equal(before);
  });

  it('refuses to rotate without a secret that opens the keys', async () => {
    const { db, before } = await filled({ configured: OLD });
    for (const options of [{ given: NEW }, { given: NEW, next: OTHER }, { next: OTHER }, {}])
      expect(await rejection(rotation(db, options))).to.be.instanceOf(WrongSecret);
    expect(await opened(db, { configured: OLD })).to.deep.equal(before);
  });

  it('reports keys that it cannot open and leaves them unchanged', async () => {
    const { db } = await filled({ configured: OLD });
    const { under } = (await rowsOf(db).findOne({ _id: INSTALLATION })) ?? {};
    const others = [
      { _id: 'room:foreign', wrapped: new Binary(randomBytes(60)), under: 'unknown' },
      { _id: 'room:damaged', wrapped: new Binary(randomBytes(60)), under: under! },
      { _id: 'room:empty' },
    ];
    await rowsOf(db).insertMany(others);
    const reports: number[] = [];
    const { unopened, ...outcome } = await rotation(db, {
      configured: OLD,
      next: NEW,
      progress: (wrapped) => reports.push(wrapped),
    });
    expect(outcome).to.deep.equal({ wrapped: 5, isStored: false });
    expect([...unopened].sort()).to.deep.equal(['room:damaged', 'room:empty', 'room:foreign']);
    expect(
      await rowsOf(db)
        .find({ _id: { $in: others.map(({ _id }) => _id) } })
        .toArray(),
    ).to.have.deep.members(others);
    // The installation's own key counts too.
    expect([reports[0], reports.at(-1)]).to.deep.equal([5, 5]);
  });

  it('rewraps keys in batches with progress, under the new secret only', async () => {
    const { db } = await filled({ configured: OLD });
    const many = Array.from({ length: 501 }, (_, n) => {
      const _id = `many:${n}`;
      return { _id, ...wrappedFields(wrappingUnder(OLD), _id, randomBytes(32)) };
    });
    await rowsOf(db).insertMany(many);
    const reports: number[] = [];
    const rotated = await rotation(db, { configured: OLD, next: NEW, progress: (wrapped) => reports.push(wrapped) });
    expect(rotated).to.deep.equal({ wrapped: 506, unopened: [], isStored: false });
    expect(reports.slice(0, 2)).to.deep.equal([501, 506]);
    const names = new Set(
      (
        await rowsOf(db)
          .find({ destroyedAt: { $exists: false } })
          .toArray()
      ).map((row) => row.under),
    );
    expect(names.size).to.equal(1);
  });

  const KINDS: [
    name: string,
    source: (storedSecret: StoredSecret) => Partial<SecretSource>,
    next: string | undefined,
  ][] = [
    ['a configured secret', (stored) => ({ configured: OLD, stored }), NEW],
    ['a kept secret', (stored) => ({ stored }), undefined],
  ];
  for (const [name, sourceOf, next] of KINDS)
    it(`loses no key when the rotation of ${name} is killed at any write and repeated`, async () => {
      for (const looksFirst of [true, false]) {
        let finished = false;
        let writes = 0;
        for (; !finished; writes++) {
          const stored = inFile();
          const named = next ? { next } : {};
          const { db, before } = await filled(sourceOf(stored));
          const killer = killAfter(writes);
          const killed = rotation(killer.database(db), { ...sourceOf(killer.storedSecret(stored)), ...named });
          finished = await killed.then(
            () => true,
            ({ message }) => message !== 'killed',
          );
          if (looksFirst) {
            const sources: Partial<SecretSource>[] = [
              sourceOf(stored),
              ...(next ? [{ configured: next } satisfies Partial<SecretSource>] : []),
            ];
            const found = await Promise.all(sources.map((source) => opened(db, source).catch(() => undefined)));
            expect(found.filter(Boolean), `${writes} writes`).to.deep.include(before);
          }
          await rotation(db, { ...sourceOf(stored), ...named });
          expect(await opened(db, next ? { configured: next } : { stored })).to.deep.equal(before);
          if (next) expect(await rejection(open(db, { configured: OLD }))).to.be.instanceOf(WrongSecret);
        }
        expect(writes).to.be.greaterThan(3);
      }
    });
});
