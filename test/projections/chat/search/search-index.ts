/** The search index on its own MongoDB server: takes recorded events, answers queries. */
import { randomUUID } from 'node:crypto';
import { type MongoServer, mongoServer } from '@annals/engines/testing/mongo.js';
import { aes256gcm } from '../../../../adapters/crypto/cipher.js';
import { connectMongo, type Mongo } from '../../../../adapters/mongo/client.js';
import { createBuilds } from '../../../../adapters/mongo/rows/row-store.js';
import type { Lease, Position, RecordedEvent } from '../../../../application/ports/index.js';
import { createVault } from '../../../../application/secrets/vault.js';
import type { ChatEvent } from '../../../../domain/chat/catalog.js';
import { BLOCKS, type BlockRow, openDocs, subjectOf } from '../../../../projections/chat/search/blocks.js';
import { search } from '../../../../projections/chat/search/projection.js';
import { createSearchIndex } from '../../../../projections/chat/search/reader.js';
import { type Apply, collectionName } from '../../../../projections/kernel/projection.js';

export type SearchEvent = ChatEvent<
  'MessagePosted' | 'MessageEdited' | 'MessageDeleted' | 'ReplyPosted' | 'ChannelErased'
>;

/** So large that a number takes neighbours for the same. */
const FIRST = 9_007_199_254_740_993n;

export async function startSearchIndex() {
  const keys = new Map<string, Buffer>();
  const vault = createVault(
    {
      async create(subject, fresh) {
        if (!keys.has(subject)) keys.set(subject, fresh);
        return keys.get(subject);
      },
      renew: () => Promise.reject(new Error('no channel comes again')),
      read: async (subject) => keys.get(subject),
      destroy: async (subject) => void keys.delete(subject),
    },
    aes256gcm,
  );
  const server: MongoServer = await mongoServer();
  const mongo: Mongo = await connectMongo(server.url, `test_${randomUUID().slice(0, 8)}`);
  const builds = createBuilds(mongo.models, vault);
  let position: Position = 0n;

  return {
    /** Sealed, and in their places. */
    async recorded(events: readonly SearchEvent[], from = 0): Promise<RecordedEvent[]> {
      const all: RecordedEvent[] = [];
      for (const [index, { type, data }] of events.entries()) {
        const subject = subjectOf(data.channelId);
        await vault.create(subject);
        const secret = 'secret' in data ? { secret: (await vault.seal(subject, data.secret))! } : {};
        all.push({
          id: `e${from + index}`,
          type,
          data: { ...data, ...secret },
          stream: `chat.message-${index}`,
          revision: 0,
          position: FIRST + BigInt(from + index),
          version: 1,
          recordedAt: 0,
          metadata: {},
        } as RecordedEvent);
      }
      return all;
    },
    /** Takes events into a build; as one that leads anew does. */
    open: (run: string, lease: Pick<Lease, 'assertHeld'> = { assertHeld() {} }, model = search): Promise<Apply> =>
      builds.open(model, collectionName(model, run), lease),
    /** What stands in one of its collections. */
    rows: (run: string, part: string) =>
      mongo.models.collection<{ readonly _id: string }>(`${collectionName(search, run)}.${part}`),
    /** All that stands in a build, opened, as it lies there. */
    async scan(run: string): Promise<readonly object[]> {
      const blocks = mongo.models.collection<BlockRow>(`${collectionName(search, run)}.${BLOCKS}`);
      const rows: object[] = [];
      for await (const row of blocks.find({}, { sort: { _id: 1 } })) {
        const { _at, first, last, docs: _, filter, ...rest } = row;
        const opened = filter && (await vault.openBytes(subjectOf(row.channel), filter.buffer));
        const content = { docs: await openDocs(vault, row), filter: opened && Buffer.from(opened).toString('hex') };
        rows.push({ ...rest, at: [_at, first, last].map(String), ...content });
      }
      return rows;
    },
    /** What a check compares of it. */
    async compared(run: string): Promise<readonly object[]> {
      const rows: object[] = [];
      for await (const { _at, ...row } of builds.scan(search, collectionName(search, run)))
        rows.push({ ...row, at: String(_at) });
      return rows;
    },
    /** How readers see a build, that has come so far, until they are shown another one. */
    reader(run: string, until: Position) {
      position = until;
      let build = collectionName(search, run);
      const shows = (other: string) => {
        build = collectionName(search, other);
      };
      return {
        ...createSearchIndex({
          db: mongo.models,
          vault,
          build: () => build,
          projectionProgress: { position: () => position },
        }),
        shows,
        advance(to: Position) {
          position = to;
        },
      };
    },
    async stop() {
      await mongo.models.dropDatabase();
      await mongo.close();
      await server.stop();
    },
  };
}
