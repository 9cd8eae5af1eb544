/** The stored transparency log: tiles only grow, also with several writers, and a copy can be cut to a shorter log. */
import { randomUUID } from 'node:crypto';
import { type MongoServer, mongoServer } from '@annals/engines/testing/mongo.js';
import { expect } from 'chai';
import { createTreeStore } from '../../../../adapters/mongo/audit/tree-rows.js';
import { connectMongo, type Mongo } from '../../../../adapters/mongo/client.js';
import {
  type AuditPorts,
  catchUpTransparencyLog,
  createSigner,
  openCheckpoint,
  type StoredEvent,
  type TreeStore,
  trimTransparencyLog,
  verifyTree,
} from '../../../../application/audit/index.js';
import type { Batch, Logger } from '../../../../application/ports/index.js';

const signer = createSigner('annals', Buffer.alloc(32, 1));

const eventNumber = (number: number): StoredEvent => ({
  id: randomUUID(),
  stream: `toys.toy-${number}`,
  revision: 0n,
  position: BigInt(2 ** 53) + BigInt(number * 10),
  type: 'toys.ToyPut.v1',
  recordedAt: number,
  data: '{}',
  metadata: '{}',
});
const EVENTS = Array.from({ length: 600 }, (_, number) => eventNumber(number));

describe('a stored transparency log', () => {
  let server: MongoServer;
  let mongo: Mongo;
  let store: TreeStore;

  before(async () => {
    server = await mongoServer();
  });
  after(() => server?.stop());
  beforeEach(async () => {
    mongo = await connectMongo(server.url, `test_${randomUUID().slice(0, 8)}`);
    store = createTreeStore(mongo.audit);
  });
  afterEach(async () => {
    await mongo?.audit.dropDatabase();
    await mongo?.close();
  });

  const covering = (count: number, to = store) => {
    async function* followStored({ from }: { readonly from: bigint | 'start' }): AsyncGenerator<Batch<StoredEvent>> {
      const events = EVENTS.slice(0, count).filter(({ position }) => from === 'start' || position > from);
      yield { events, caughtUp: true };
    }
    const ports: AuditPorts = {
      store: to,
      followStored,
      eventAt: async () => ({ head: EVENTS[599]!.position }),
      signer: async () => signer,
      prefixes: [],
      witnesses: [],
      logger: {} as Logger,
    };
    return catchUpTransparencyLog(ports, new AbortController().signal);
  };
  const sizeVerified = async (of = store) => {
    const checkpoint = openCheckpoint((await of.head())!.checkpoint!, [signer.verifier])!;
    for await (const _ of verifyTree(checkpoint, of.readTile));
    return checkpoint.size;
  };

  it('is empty at first, and then has what was appended', async () => {
    expect([await store.head(), await store.findBundle(0n)]).to.deep.equal([undefined, undefined]);
    await covering(100);
    await covering(600);
    expect(await sizeVerified()).to.equal(601);
    expect(await store.head()).to.deep.include({
      size: 601,
      position: EVENTS[599]!.position,
      keyNumber: 1,
      restarts: [],
    });
  });

  it('finds the bundle of a position', async () => {
    await covering(600);
    // The first entry is that of the key.
    for (const [number, index] of [
      [0, 0],
      [254, 0],
      [255, 1],
      [510, 1],
      [511, 2],
      [599, 2],
    ] as const)
      expect(await store.findBundle(EVENTS[number]!.position), `${number}`).to.equal(index);
    expect(await store.findBundle(1n)).to.equal(undefined);
  });

  it('is not shortened by a writer that lags', async () => {
    const lagging = createTreeStore(mongo.audit);
    await covering(300);
    const late: [Parameters<TreeStore['append']>[0], Parameters<TreeStore['append']>[1]][] = [];
    await covering(400, { ...lagging, append: async (...args) => void late.push(args) });
    await covering(600);
    for (const args of late) await lagging.append(...args);
    expect(await sizeVerified()).to.equal(601);
  });

  it('puts the next key in force', async () => {
    await covering(1);
    await store.nextKey();
    expect((await store.head())?.keyNumber).to.equal(2);
  });

  it('is cut to the log of a copy, and continues from there', async () => {
    const whole = createTreeStore(mongo.audit);
    await covering(600);
    const { checkpoint } = (await whole.head())!;
    for (const number of [599, 511, 510, 256, 255, 254, 1, 0]) {
      await trimTransparencyLog(store, EVENTS[number]!.position);
      expect((await store.head())?.position).to.equal(EVENTS[number]!.position);
      await covering(600);
      expect(await sizeVerified(), `${number}`).to.equal(601);
      expect((await store.head())?.checkpoint).to.equal(checkpoint);
    }
    await trimTransparencyLog(store, 5n);
    expect((await store.head())?.position).to.equal(0n);
    await covering(600);
    expect((await store.head())?.checkpoint).to.equal(checkpoint);
  });
});
