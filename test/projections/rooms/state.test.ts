/** The rows of rooms: whatever is posted, redelivered and ended, they say what the log says, newest 1000 and no more. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Long } from 'mongodb';
import { connectMongo, type Mongo } from '../../../adapters/mongo/client.js';
import { createBuilds } from '../../../adapters/mongo/rows.js';
import type { RecordedEvent, Vault } from '../../../application/ports.js';
import type { Apply } from '../../../projections/projection.js';
import { state } from '../../../projections/rooms/state.js';
import { type MongoServer, mongoServer } from '../../support/mongo.js';

interface RoomRow {
  readonly _id: string;
  readonly room?: string;
  readonly gone?: true;
  readonly messages?: readonly { readonly revision: Long | number; readonly id: string }[];
  readonly [field: string]: unknown;
}

describe('the rows of a room', function () {
  this.timeout(120_000);
  let server: MongoServer;
  let mongo: Mongo;
  let apply: Apply;
  let name: string;
  let position: bigint;

  before(async () => {
    server = await mongoServer();
    mongo = await connectMongo(server.url, `test_${randomUUID().slice(0, 8)}`);
  });
  after(async () => {
    await mongo?.models.dropDatabase();
    await mongo?.close();
    await server?.stop();
  });
  beforeEach(async () => {
    [name, position] = [`rooms_state_v1_${randomUUID().replaceAll('-', '')}`, 1n];
    apply = await createBuilds(mongo.models, {} as Vault).open(state, name, { assertHeld() {} });
  });

  const event = (type: string, data: object, revision = 0): RecordedEvent => ({
    id: randomUUID(),
    stream: 'rooms.room-x',
    revision,
    version: 1,
    recordedAt: 1_800_000_000_000,
    position: position++,
    type,
    data: { ...data },
    metadata: {},
  });
  const created = (roomId: string) => event('RoomCreated', { roomId, createdAt: 1, expiresAt: 2 });
  const joined = (roomId: string, participantId: string) =>
    event('ParticipantJoined', { roomId, participantId, joinedAt: 3, tokenHash: 'hash', secret: 'sealed' });
  const posted = (roomId: string, revision: number) =>
    event(
      'MessagePosted',
      {
        roomId,
        messageId: `m${revision}`,
        senderId: 'ada',
        createdAt: 5,
        expiresAt: 6,
        digest: 'd',
        secret: 's',
      },
      revision,
    );
  const rows = async (filter: object = {}) => {
    const found = await mongo.models.collection<RoomRow>(name).find(filter).sort({ _id: 1 }).toArray();
    return JSON.parse(JSON.stringify(found)).map(({ _at, ...row }: RoomRow) => row) as RoomRow[];
  };
  const messages = async (room: string) =>
    (await rows({ room })).flatMap((row) => (row.messages ?? []).map(({ id }) => id));

  it('say who is in it and until when, and nothing by which one gets in', async () => {
    await apply([created('a'), joined('a', 'ada'), joined('a', 'bob'), created('b')]);
    expect(await rows({ room: 'a' })).to.deep.equal([
      {
        _id: 'a',
        room: 'a',
        createdAt: 1,
        expiresAt: 2,
        participants: [
          { id: 'ada', joinedAt: 3, secret: 'sealed' },
          { id: 'bob', joinedAt: 3, secret: 'sealed' },
        ],
      },
    ]);
    const indexes = await mongo.models.collection(name).listIndexes().toArray();
    expect(indexes.map(({ key }) => Object.keys(key)[0])).to.have.members([
      '_id',
      'room',
      'expiresAt',
      'goneAt',
    ]);
  });

  it('hold messages in the order of the room, sixteen a row, behind the room itself', async () => {
    const events = [created('a'), ...Array.from({ length: 40 }, (_, n) => posted('a', n)), posted('b', 0)];
    await apply(events);
    await apply(events.slice(3, 30));
    expect(await messages('a')).to.deep.equal(Array.from({ length: 40 }, (_, n) => `m${n}`));
    const found = await rows({ room: 'a' });
    expect(found[0]?._id).to.equal('a');
    expect(found.slice(1).map((row) => row.messages?.length)).to.deep.equal([16, 16, 8]);
    expect(found[1]?.messages?.[0]).to.deep.equal({
      revision: 0,
      id: 'm0',
      senderId: 'ada',
      createdAt: 5,
      expiresAt: 6,
      secret: 's',
    });
    expect(await messages('b')).to.deep.equal(['m0']);
  });

  it('keep the newest thousand messages: with the last one of a row the row goes', async () => {
    await apply([created('a'), created('b'), posted('b', 0)]);
    await apply(Array.from({ length: 1000 }, (_, n) => posted('a', n)));
    expect((await messages('a'))[0]).to.equal('m0');
    const holdsFrom = async (count: number) => {
      const kept = await messages('a');
      expect(kept).to.have.length(1000);
      expect([kept[0], kept.at(-1)]).to.deep.equal([`m${count - 1000}`, `m${count - 1}`]);
    };
    await apply([posted('a', 1000)]);
    await holdsFrom(1001);
    await apply(Array.from({ length: 14 }, (_, n) => posted('a', 1001 + n)));
    await holdsFrom(1015);
    expect(await rows({ _id: { $gte: 'a:', $lt: 'a:00000001' } })).to.have.length(1);
    await apply([posted('a', 1015)]);
    await holdsFrom(1016);
    expect((await rows({ room: 'a' }))[1]?._id).to.equal('a:00000001');
    expect(await messages('b')).to.deep.equal(['m0']);
  });

  for (const end of ['RoomBurned', 'RoomExpired', 'RoomErased'])
    it(`are gone with ${end}, and no event of before brings them back`, async () => {
      const before = [created('a'), joined('a', 'ada'), posted('a', 0)];
      await apply([...before, created('b'), posted('b', 0)]);
      await apply([event(end, { roomId: 'a' })]);
      await apply([before[0]!, before[1]!]);
      const left = await rows();
      expect(left.map(({ _id, gone }) => [_id, gone ?? false])).to.deep.equal([
        ['a', true],
        ['b', false],
        ['b:00000000', false],
      ]);
      expect(left[0]).to.have.all.keys('_id', 'gone', 'goneAt');
    });

  it('of a message that came after the end go with the tombstone of its stream', async () => {
    await apply([created('a'), event('RoomBurned', { roomId: 'a' }), posted('a', 0)]);
    await apply([event('RoomErased', { roomId: 'a' })]);
    expect(await messages('a')).to.deep.equal([]);
    expect(Long.isLong((await mongo.models.collection<RoomRow>(name).findOne({ _id: 'a' }))?._at)).to.equal(
      true,
    );
  });
});
