/** The room cache: pages from memory until the log changes the room on any node. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import type { Position } from '../../../application/ports/index.js';
import { createRoomCache, createRoomQueries, isComplete } from '../../../application/rooms/queries.js';
import { MAX_MESSAGES, messagesStream } from '../../../domain/rooms/messages.js';
import { roomStream } from '../../../domain/rooms/room.js';
import { envelope } from '../../support/room-fixtures.js';
import { context } from '../../support/toy-service.js';
import { accepted, done, type Node, startNode, viewOf } from './node.js';

describe('a cached room', function () {
  this.timeout(60_000);
  let servers: Servers;
  let node: Node;
  let other: Node;

  before(async () => {
    servers = await startServers();
  });
  after(() => servers?.stop());
  beforeEach(async () => {
    const database = `test_${randomUUID().slice(0, 8)}`;
    node = await startNode(servers, database, Date);
    other = await startNode(servers, database, Date);
  });
  afterEach(async () => {
    await node?.kernel.mongo.models.dropDatabase();
    await Promise.all([node?.stop(), other?.stop()]);
  });

  type Room = Parameters<Node['admitted']>[0];
  const post = async (room: Room, messageIndex: number, at = node) =>
    done(await at.commands.post(await at.admitted(room), { ...envelope, messageIndex }, context()));

  /** Queries on the node that count reads of rows; `found` can change the rows. */
  function createReader(found = (rows: readonly object[]) => rows, limitBytes?: number) {
    let reads = 0;
    let round = 0;
    /** The round of the event loop in which each secret was decrypted. */
    const decryptRounds: number[] = [];
    const { kernel } = node;
    const cache = createRoomCache(kernel.aggregates, limitBytes);
    const live: { position: Position } = { position: 0n };
    const open: typeof kernel.vault.open = (...args) => {
      decryptRounds.push(round);
      return kernel.vault.open(...args);
    };
    const find = async (...args: Parameters<typeof kernel.rows.find>) => {
      reads++;
      return found(await kernel.rows.find<object>(...args)) as never;
    };
    const vault = { ...kernel.vault, open };
    const queries = createRoomQueries({
      ...kernel,
      vault,
      cache,
      livePosition: () => live.position,
      rows: { find },
      clock: Date,
    });
    const read = async (room: Room, after?: string, seen?: Position) => {
      decryptRounds.length = 0;
      let next = setImmediate(function count() {
        round++;
        next = setImmediate(count);
      });
      const state = await queries.state(await node.admitted(room), after, seen);
      clearImmediate(next);
      const { json, position } = accepted(state);
      const { messages, participants } = viewOf({ json, position });
      return { ids: messages.map(({ id }) => id), people: participants.length, position };
    };
    return { read, cache, live, queries, decryptRounds, reads: () => reads };
  }

  /** Delivers all events of a stream to this node, as its live feed does. */
  async function deliver(stream: string) {
    const events = await node.kernel.log.read(stream);
    if (typeof events !== 'string') for (const event of events) node.kernel.aggregates.onEvent(event);
  }

  it('is read from rows once, and again after a change', async () => {
    const { read, reads } = createReader();
    const room = await node.create('Ada');
    const first = await post(room, 0);
    const second = await post(room, 1);
    const ids = [first.body.id, second.body.id];
    const whole = await read(room);
    expect(whole).to.deep.include({ ids, people: 1 });
    expect(await read(room)).to.deep.equal(whole);
    expect((await read(room, first.body.id)).ids).to.deep.equal(ids.slice(1));
    expect((await read(room, second.body.id)).ids).to.deep.equal([]);
    expect((await read(room, 'unknown')).ids).to.deep.equal(ids);
    expect(reads()).to.equal(1);

    const third = await post(room, 2);
    const after = await read(room);
    expect(after.ids).to.deep.equal([...ids, third.body.id]);
    expect(after.position >= third.position).to.equal(true);
    const inviteToken = `invite-${randomUUID()}`;
    done(await node.commands.invite(await node.admitted(room), inviteToken, context()));
    expect(await read(room), 'an invite is not part of the page').to.deep.equal(after);
    expect(reads()).to.equal(2);
    const { signingPublicKey } = (await node.admitted(room)).participant;
    const newcomer = { name: 'Bob', signingPublicKey: signingPublicKey! };
    done(await node.commands.join(room.roomId, inviteToken, newcomer, context()));
    expect((await read(room)).people).to.equal(2);
  });

  it('is read again for a later position, and after another node changed it', async () => {
    const { read, reads } = createReader();
    const room = await node.create('Ada');
    await post(room, 0);
    const { position } = await read(room);
    await read(room, undefined, position);
    expect(reads()).to.equal(1);
    const elsewhere = await post(room, 1, other);
    expect((await read(room, undefined, elsewhere.position)).ids).to.have.length(2);
    expect(reads()).to.equal(2);
    const another = await post(room, 2, other);
    await node.kernel.projectionProgress.wait('rooms.state', another.position);
    await deliver(messagesStream(room.roomId));
    expect((await read(room)).ids).to.have.length(3);
  });

  it('reports the position of events that do not concern it', async () => {
    const { read, reads, live } = createReader();
    const [room, other] = [await node.create('Ada'), await node.create('Bob')];
    await post(room, 0);
    const elsewhere = await post(other, 0);
    await node.kernel.projectionProgress.wait('rooms.state', elsewhere.position);
    expect((await read(room)).position >= elsewhere.position, 'from rows').to.equal(true);
    const laterPost = await post(other, 1);
    expect((await read(room)).position < laterPost.position, 'not delivered yet').to.equal(true);
    live.position = laterPost.position;
    expect((await read(room)).position, 'from memory').to.equal(laterPost.position);
    // Also if the reader requires that position.
    expect((await read(room, undefined, laterPost.position)).position).to.equal(laterPost.position);
    expect(reads()).to.equal(1);
  });

  it('is decrypted from the requested message on if too large to cache, in slices', async () => {
    const room = await node.create('Ada');
    const ids: string[] = [];
    for (let index = 0; index < 40; index++) ids.push((await post(room, index)).body.id);
    const { read, decryptRounds, cache } = createReader(undefined, 20_000);
    expect((await read(room)).ids).to.deep.equal(ids);
    const [, ...messages] = decryptRounds;
    expect(messages).to.have.length(40);
    for (const each of new Set(messages)) expect(messages.filter((one) => one === each)).to.have.length.of.at.most(16);
    expect(cache.cache.bytes()).to.equal(0);
    expect((await read(room, ids[37])).ids).to.deep.equal(ids.slice(38));
    expect(decryptRounds).to.have.length(1 + 2);
  });

  it('is not cached from incomplete rows', async () => {
    const room = await node.create('Ada');
    for (let index = 0; index < 20; index++) await post(room, index);
    const parts: ((rows: readonly object[]) => readonly object[])[] = [
      // Without the newest messages, without older ones, and without participants.
      (rows) => rows.slice(0, -1),
      (rows) => [rows[0]!, ...rows.slice(2)],
      (rows) => rows.slice(1),
    ];
    for (const part of parts) {
      const { read, reads } = createReader((rows) => (reads() === 1 ? part(rows) : rows));
      await read(room);
      expect((await read(room)).ids).to.have.length(20);
      expect(reads()).to.equal(2);
    }
  });

  it('is not cached without its newest message while expired messages are still in the rows', () => {
    const rowsTo = (newest: number) =>
      Array.from({ length: MAX_MESSAGES }, (_, index) => ({ revision: newest - MAX_MESSAGES + 1 + index }));
    const content = { participants: [], revision: 2 * MAX_MESSAGES };
    expect(isComplete(content, [], rowsTo(content.revision))).to.equal(true);
    expect(isComplete(content, [], rowsTo(content.revision - 1))).to.equal(false);
  });

  it('is gone after it was burned on another node, and leaves memory', async () => {
    const { read, cache, queries } = createReader();
    const room = await node.create('Ada');
    await post(room, 0);
    await read(room);
    const cachedBytes = () => cache.cache.bytes();
    expect(cachedBytes()).to.be.greaterThan(0);
    const caller = await node.admitted(room);
    done(await other.commands.burn(room.roomId, caller.participant.id, context()));
    await deliver(roomStream(room.roomId));
    expect(await node.authenticator.authenticate(room.roomId, room.sessionToken)).to.include({ kind: 'not-found' });
    expect(await queries.state(caller), 'authenticated just before').to.include({ kind: 'not-found' });
    const log = await node.kernel.log.read(roomStream(room.roomId));
    for (const event of typeof log === 'string' ? [] : log) cache.onEvent(event as never);
    expect(cachedBytes()).to.equal(0);
  });
});
