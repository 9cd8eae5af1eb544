/** What a room is shown as while nothing happens in it: from memory, until the log says otherwise on any node. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import type { Position } from '../../../application/ports/index.js';
import { createRoomCache, createRoomQueries, isComplete } from '../../../application/rooms/queries.js';
import { MAX_MESSAGES, messagesStream } from '../../../domain/rooms/messages.js';
import { roomStream } from '../../../domain/rooms/room.js';
import { envelope } from '../../support/room-fixtures.js';
import { context } from '../../support/toy-service.js';
import { accepted, done, type Node, shownBy, startNode } from './node.js';

describe('a room that is read again', function () {
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

  /** Readers of the node, whose reads of the rows are counted; `found` may change what they find. */
  function readers(found = (rows: readonly object[]) => rows, limitBytes?: number) {
    let reads = 0;
    let round = 0;
    /** In which round of the event loop each secret was opened. */
    const opened: number[] = [];
    const { kernel } = node;
    const shown = createRoomCache(kernel.streams, limitBytes);
    const open: typeof kernel.vault.open = (...asked) => {
      opened.push(round);
      return kernel.vault.open(...asked);
    };
    const find = async (...asked: Parameters<typeof kernel.rows.find>) => {
      reads++;
      return found(await kernel.rows.find<object>(...asked)) as never;
    };
    const vault = { ...kernel.vault, open };
    const queries = createRoomQueries({ ...kernel, vault, shown, rows: { find }, clock: Date });
    const read = async (room: Room, after?: string, seen?: Position) => {
      opened.length = 0;
      let next = setImmediate(function count() {
        round++;
        next = setImmediate(count);
      });
      const state = await queries.state(await node.admitted(room), after, seen);
      clearImmediate(next);
      const { json, position } = accepted(state);
      const { messages, participants } = shownBy({ json, position });
      return { ids: messages.map(({ id }) => id), people: participants.length, position };
    };
    return { read, shown, queries, opened, reads: () => reads };
  }

  /** As the live feed would: this node hears of all that stands in a stream. */
  async function hear(stream: string) {
    const events = await node.kernel.log.read(stream);
    if (typeof events !== 'string') for (const event of events) node.kernel.streams.onEvent(event);
  }

  it('is read from the rows once, and again when anything has happened in it', async () => {
    const { read, reads } = readers();
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
    expect(await read(room), 'an invite is not shown').to.deep.equal(after);
    expect(reads()).to.equal(2);
    const { signingPublicKey } = (await node.admitted(room)).participant;
    const newcomer = { name: 'Bob', signingPublicKey: signingPublicKey! };
    done(await node.commands.join(room.roomId, inviteToken, newcomer, context()));
    expect((await read(room)).people).to.equal(2);
  });

  it('is read anew for who has seen more, and once another node has written to it', async () => {
    const { read, reads } = readers();
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
    await hear(messagesStream(room.roomId));
    expect((await read(room)).ids).to.have.length(3);
  });

  it('says that it shows what happened elsewhere meanwhile, which was nothing to it', async () => {
    const { read, reads, shown } = readers();
    const [room, other] = [await node.create('Ada'), await node.create('Bob')];
    await post(room, 0);
    const elsewhere = await post(other, 0);
    await node.kernel.projectionProgress.wait('rooms.state', elsewhere.position);
    expect((await read(room)).position >= elsewhere.position, 'from rows').to.equal(true);
    const later = await post(other, 1);
    expect((await read(room)).position < later.position, 'not heard of yet').to.equal(true);
    shown.onEvent(later as never);
    expect((await read(room)).position, 'from memory').to.equal(later.position);
    // Also for who asks for no less.
    expect((await read(room, undefined, later.position)).position).to.equal(later.position);
    expect(reads()).to.equal(1);
  });

  it('is opened from where its reader is when it is too large to be kept, and in turns', async () => {
    const room = await node.create('Ada');
    const ids: string[] = [];
    for (let index = 0; index < 40; index++) ids.push((await post(room, index)).body.id);
    const { read, opened, shown } = readers(undefined, 20_000);
    expect((await read(room)).ids).to.deep.equal(ids);
    const [, ...messages] = opened;
    expect(messages).to.have.length(40);
    for (const each of new Set(messages)) expect(messages.filter((one) => one === each)).to.have.length.of.at.most(16);
    expect(shown.cache.bytes()).to.equal(0);
    expect((await read(room, ids[37])).ids).to.deep.equal(ids.slice(38));
    expect(opened).to.have.length(1 + 2);
  });

  it('is not kept as rows show it that hold only a part of it yet', async () => {
    const room = await node.create('Ada');
    for (let index = 0; index < 20; index++) await post(room, index);
    const parts: ((rows: readonly object[]) => readonly object[])[] = [
      // Without the newest messages, without older ones, and without the people.
      (rows) => rows.slice(0, -1),
      (rows) => [rows[0]!, ...rows.slice(2)],
      (rows) => rows.slice(1),
    ];
    for (const part of parts) {
      const { read, reads } = readers((rows) => (reads() === 1 ? part(rows) : rows));
      await read(room);
      expect((await read(room)).ids).to.have.length(20);
      expect(reads()).to.equal(2);
    }
  });

  it('is not kept without its newest message where older ones are still to go', () => {
    const rowsTo = (newest: number) =>
      Array.from({ length: MAX_MESSAGES }, (_, index) => ({ revision: newest - MAX_MESSAGES + 1 + index }));
    const content = { participants: [], revision: 2 * MAX_MESSAGES };
    expect(isComplete(content, [], rowsTo(content.revision))).to.equal(true);
    expect(isComplete(content, [], rowsTo(content.revision - 1))).to.equal(false);
  });

  it('is gone when it was burned on another node, and nothing of it stays in memory', async () => {
    const { read, shown, queries } = readers();
    const room = await node.create('Ada');
    await post(room, 0);
    await read(room);
    const held = () => shown.cache.bytes();
    expect(held()).to.be.greaterThan(0);
    const caller = await node.admitted(room);
    done(await other.commands.burn(room.roomId, caller.participant.id, context()));
    await hear(roomStream(room.roomId));
    expect(await node.authenticator.authenticate(room.roomId, room.sessionToken)).to.include({ kind: 'not-found' });
    expect(await queries.state(caller), 'who was let in just before').to.include({ kind: 'not-found' });
    const log = await node.kernel.log.read(roomStream(room.roomId));
    for (const event of typeof log === 'string' ? [] : log) shown.onEvent(event as never);
    expect(held()).to.equal(0);
  });
});
