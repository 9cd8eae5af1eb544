/** The transparency log over an event log in memory: its entries, and detection of changes to either log. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  checkLastEvent,
  type Difference,
  decodeBundle,
  LogMismatchError,
  nodeReader,
  restartTransparencyLog,
  rootOf,
  type StoredEvent,
  tilePath,
  verifyTree,
} from '../../../application/audit/index.js';
import { createSigner } from '../../../application/audit/signed-note.js';
import { tilesOf } from '../../../application/audit/tiles.js';
import { eventNumber, type TransparencyLog, transparencyLog } from '../../support/transparency-log.js';

const differenceIn = ({
  verify,
}: TransparencyLog): Promise<Pick<Difference, 'message' | 'index' | 'position'> | undefined> =>
  verify().then(
    () => undefined,
    (error) => ({ message: error.message, index: error.index, position: error.position && BigInt(error.position) }),
  );

/** What is wrong with the tree alone. */
async function treeDifference({ checkpoint, store }: TransparencyLog): Promise<string | undefined> {
  try {
    for await (const _ of verifyTree(await checkpoint(), store.readTile));
    return undefined;
  } catch (error) {
    return (error as Difference).message;
  }
}

describe('a transparency log', () => {
  it('has an entry for its key and each event, in the order of the log', async () => {
    const log = transparencyLog(3);
    await log.catchUp();
    expect((await log.checkpoint()).size).to.equal(4);
    const bundle = await log.store.readTile({ level: 'entries', index: 0 }, 4);
    const [key, first, , third] = decodeBundle(bundle!)!.map((line) => JSON.parse(String(line)));
    expect(key).to.deep.equal({ key: createSigner('annals', Buffer.alloc(32, 1)).verifier.line });
    expect(first).to.deep.equal({
      position: '50',
      stream: 'toys.toy-0',
      revision: '0',
      id: '00000000-0000-4000-8000-000000000000',
      type: 'toys.ToyPut.v1',
      time: 1_800_000_000_000,
      data: createHash('sha256').update('{"number":0,"generation":""}').digest('base64'),
      metadata: createHash('sha256').update('{}').digest('base64'),
    });
    expect(third.position).to.equal('250');
  });

  it('agrees with the log, however events arrive', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 5 }), async (parts) => {
        const log = transparencyLog(0);
        for (const part of parts) {
          const from = log.events.length;
          log.events.push(...Array.from({ length: part }, (_, number) => eventNumber(from + number)));
          await log.catchUp();
        }
        const { events, uncovered } = await log.verify();
        expect([events, uncovered]).to.deep.equal([log.events.length, 0]);
        const at = transparencyLog(log.events.length);
        await at.catchUp();
        expect((await at.checkpoint()).root).to.deep.equal((await log.checkpoint()).root);
      }),
      { numRuns: 20 },
    );
  });

  it('extends each of its earlier checkpoints', async () => {
    const log = transparencyLog(300);
    await log.catchUp();
    const earlier = await log.checkpoint();
    for (let number = 300; number < 1200; number++) log.events.push(eventNumber(number));
    await log.catchUp();
    const { size } = await log.checkpoint();
    expect(size).to.equal(1201);
    expect(await rootOf(earlier.size, nodeReader(earlier.size, log.store.readTile))).to.deep.equal(earlier.root);
  });

  it('signs with the next key once it is in force, and with both at first', async () => {
    const log = transparencyLog(3);
    await log.catchUp();
    await log.store.nextKey();
    await log.catchUp();
    expect([(await log.checkpoint(1)).size, (await log.checkpoint(2)).size]).to.deep.equal([5, 5]);
    log.events.push(eventNumber(3));
    await log.catchUp();
    expect(await log.checkpoint(1)).to.equal(undefined);
    expect((await log.checkpoint(2)).size).to.equal(6);
  });

  it('is not continued over a log that lacks its last event, until that is recorded', async () => {
    const refused = transparencyLog(300);
    await refused.catchUp();
    const eventAt = async () => ({ head: 10n ** 9n, isRefused: true });
    const missing = await checkLastEvent({ ...refused.ports, eventAt }).catch((error) => error);
    expect(missing).to.be.instanceOf(LogMismatchError);
    for (const regrown of [[], [eventNumber(299, 'b')], [eventNumber(299, 'b'), eventNumber(300, 'b')]]) {
      const log = transparencyLog(300);
      await log.catchUp();
      log.events.splice(250, 50, ...regrown);
      expect(await log.catchUp().catch((error) => error)).to.be.instanceOf(LogMismatchError);
      await restartTransparencyLog(log.ports, eventNumber(249).position);
      await log.catchUp();
      const { events, lost } = await log.verify();
      expect([events, lost]).to.deep.equal([250 + regrown.length, 50]);
    }
  });
});

describe('the verification of a transparency log', () => {
  const BOTH = 700;
  const given = async () => {
    const log = transparencyLog(BOTH);
    await log.catchUp();
    return log;
  };

  it('finds nothing in a log that nobody changed', async () => {
    expect(await differenceIn(await given())).to.equal(undefined);
  });

  it('finds a changed, missing, added or exchanged event, and says where', async () => {
    const changes: readonly [(events: StoredEvent[]) => unknown, string, number][] = [
      [
        (events) => events.splice(400, 1, { ...events[400]!, data: '{"number":1}' }),
        'data of the event was changed',
        400,
      ],
      [(events) => events.splice(400, 1, { ...events[400]!, recordedAt: 1 }), 'time of the event was changed', 400],
      [(events) => events.splice(0, 1), 'missing from toys.toy-0', 0],
      [(events) => events.splice(699, 1), 'missing from toys.toy-6', 699],
      [(events) => events.splice(400, 0, { ...events[400]!, position: 40_045n }), 'added to toys.toy-1', 399.95],
      [
        (events) => {
          const [a, b] = [events[400]!, events[401]!];
          events.splice(400, 2, { ...b, position: a.position }, { ...a, position: b.position });
        },
        'was changed',
        400,
      ],
    ];
    for (const [change, message, number] of changes) {
      const log = await given();
      change(log.events);
      const found = await differenceIn(log);
      expect(found?.message).to.include(message);
      expect(found?.position).to.equal(BigInt(Math.round(number * 100 + 50)));
    }
  });

  it('finds a log that was cut and written anew', async () => {
    const log = await given();
    log.events.splice(500, 200, ...Array.from({ length: 400 }, (_, number) => eventNumber(500 + number, 'b')));
    expect((await differenceIn(log))?.position).to.equal(eventNumber(500).position);
  });

  it('finds a restart that was added to the head to explain lost events', async () => {
    const log = await given();
    log.events.splice(500, 200);
    const { size, ...head } = await log.head();
    const restarts = [{ index: size, position: eventNumber(499).position }];
    await log.store.append([], { ...head, size, restarts });
    expect((await differenceIn(log))?.message).to.include('a restart in the head of the store is no entry');
  });

  it('finds a changed entry, also if the tile above was changed with it', async () => {
    const first = { level: 'entries', index: 1 } as const;
    const replaceText = (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replace('ToyPut', 'ToyGot'), 'latin1');
    const log = await given();
    log.tamper(first, replaceText);
    expect(await differenceIn(log)).to.deep.include({ index: 256, position: eventNumber(255).position });
    const forged = transparencyLog(BOTH);
    forged.events.splice(255, 1, { ...eventNumber(255), type: 'toys.ToyGot.v1' });
    await forged.catchUp();
    for (const index of [0, 1, 2])
      for (const level of ['entries', 0] as const)
        log.tiles.set(tilePath({ level, index }), forged.tiles.get(tilePath({ level, index }))!);
    expect(await treeDifference(log)).to.include('tile/1/000.p/2 differs');
    log.tiles.set(tilePath({ level: 1, index: 0 }), forged.tiles.get(tilePath({ level: 1, index: 0 }))!);
    expect(await treeDifference(log)).to.include('root of the checkpoint');
  });

  it('finds any byte that was changed in a tile or bundle', async () => {
    const log = await given();
    const { size } = await log.checkpoint();
    const tiles = [...tilesOf(size)];
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat(), async (any, at) => {
        const tile = tiles[any % tiles.length]!;
        const original = log.tiles.get(tilePath(tile))!;
        log.tamper(tile, (bytes) => {
          bytes[at % bytes.length]! ^= 1;
          return bytes;
        });
        expect(await differenceIn(log)).to.not.equal(undefined);
        log.tiles.set(tilePath(tile), original);
      }),
      { numRuns: 60 },
    );
    expect(await differenceIn(log)).to.equal(undefined);
  });

  it('finds missing tiles', async () => {
    const log = await given();
    for (const tile of tilesOf((await log.checkpoint()).size)) {
      const original = log.tiles.get(tilePath(tile))!;
      log.tiles.delete(tilePath(tile));
      expect((await differenceIn(log))?.message).to.include(tilePath(tile));
      log.tiles.set(tilePath(tile), original);
    }
  });

  it('accounts for events of deleted streams and of streams with a rule', async () => {
    const log = await given();
    log.events.splice(0, BOTH, ...log.events.filter(({ stream }) => !['toys.toy-1', 'toys.toy-2'].includes(stream)));
    const first = (stream: string) => (stream === 'toys.toy-1' ? 'deleted' : 'missing');
    expect((await log.verify(first, ['toys.toy-2'])).removed).to.deep.equal({ deleted: 100, expired: 100 });
  });

  it('finds an event missing from the middle of a stream whose rule removes the oldest', async () => {
    const log = await given();
    // Revisions 0 and 2 of the stream.
    for (const number of [15, 1]) log.events.splice(number, 1);
    expect((await log.verify(() => 3, ['toys.toy-1'])).removed).to.deep.equal({ deleted: 0, expired: 2 });
    const difference = await log.verify(() => 1, ['toys.toy-1']).catch((error: Difference) => error);
    expect(difference).to.include({ index: 16, position: String(eventNumber(15).position) });
  });
});
