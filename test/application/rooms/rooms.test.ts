/** What follows the end of a room, what is kept of a busy one, and rooms on several nodes. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { asEvent } from '../../../application/command/event-envelope.js';
import type { NewEvent } from '../../../application/ports/index.js';
import { hashOf } from '../../../application/rooms/authenticate.js';
import type { JoinResult } from '../../../application/rooms/commands.js';
import { BATCH_SIZE } from '../../../application/rooms/expire-rooms.js';
import { MAX_MESSAGES, messagesStream } from '../../../domain/rooms/messages.js';
import { roomStream } from '../../../domain/rooms/room.js';
import { state } from '../../../projections/rooms/room-state.js';
import { envelope, HOUR, signingPublicKey } from '../../support/room-fixtures.js';
import { context } from '../../support/toy-service.js';
import { accepted, done, type Node, shownBy, startNode } from './node.js';

/** The window in which the messages of a participant are counted. */
const MINUTE = 60_000;

describe('rooms in the log', function () {
  this.timeout(120_000);
  let servers: Servers;
  let node: Node;
  let database: string;
  let now: number;
  const clock = { now: () => now };

  before(async () => {
    servers = await startServers();
    // One for all tests: each node goes on where the one before it ended, and need not read the whole log again.
    database = `test_${randomUUID().slice(0, 8)}`;
  });
  after(() => servers?.stop());
  beforeEach(async () => {
    now = Date.now();
    node = await startNode(servers, database, clock);
  });
  afterEach(() => node?.stop());

  const eventTypes = async (stream: string) => {
    const events = await node.kernel.log.read(stream);
    return typeof events === 'string' ? events : events.map(({ type }) => type);
  };
  const rowsOf = (roomId: string) =>
    node.kernel.rows.find<{ _id: string }>('rooms.state', { filter: { room: roomId } });
  const post = async (room: Parameters<Node['admitted']>[0], messageIndex = 0, at = node) =>
    done(await at.commands.post(await at.admitted(room), { ...envelope, messageIndex }, context()));

  /** As many messages as are kept, as if they had been posted: one command each would take long. */
  async function filled({ roomId, participantId: senderId }: JoinResult) {
    const expiresAt = now + HOUR;
    const events = Array.from({ length: MAX_MESSAGES }, (_, messageIndex): NewEvent => {
      const [messageId, digest] = [randomUUID(), randomUUID()];
      const secret = { envelope: { ...envelope, messageIndex } };
      const data = { roomId, messageId, senderId, createdAt: now, expiresAt, digest, secret };
      return { id: messageId, event: { type: 'MessagePosted', data }, metadata: {} };
    });
    expect(await node.inner.append(messagesStream(roomId), 'none', events)).to.include({
      outcome: 'appended',
    });
  }

  /** Until the room's end has been followed by all that must follow it. */
  const erased = (roomId: string) =>
    eventually(async () => {
      const types = await eventTypes(roomStream(roomId));
      return types.includes('RoomErased') && (await rowsOf(roomId)).length === 0 && types;
    });

  it('leaves of a burned room only that it was: no key, no messages, no rows', async () => {
    const room = await node.create('Ada');
    await post(room);
    expect(shownBy(accepted(await node.queries.state(await node.admitted(room)))).messages).to.have.length(1);
    const { participant } = await node.admitted(room);
    done(await node.commands.burn(room.roomId, participant.id, context()));
    expect(await node.kernel.vault.seal(roomStream(room.roomId), {}), 'at the answer').to.equal(undefined);
    expect(await erased(room.roomId)).to.deep.equal(['RoomCreated', 'ParticipantJoined', 'RoomBurned', 'RoomErased']);
    expect(await eventTypes(messagesStream(room.roomId))).to.equal('deleted');
  });

  it('erases again without harm, as after a crash', async () => {
    const room = await node.create('Ada');
    const { participant } = await node.admitted(room);
    done(await node.commands.burn(room.roomId, participant.id, context()));
    const types = await erased(room.roomId);
    const events = await node.kernel.log.read(roomStream(room.roomId));
    const end = typeof events === 'string' ? undefined : events.find(({ type }) => type === 'RoomBurned');
    await node.reaction.on.RoomBurned(asEvent(end!));
    expect(await eventTypes(roomStream(room.roomId))).to.deep.equal(types);
  });

  it('does not come back by a rebuild', async () => {
    const kept = await node.create('Bob');
    const gone = await node.create('Ada');
    await post(gone);
    await post(kept);
    const { participant } = await node.admitted(gone);
    done(await node.commands.burn(gone.roomId, participant.id, context()));
    await erased(gone.roomId);
    const { signal } = new AbortController();
    expect(await node.kernel.lifecycle.check(state, { signal })).to.deep.equal([]);
    await node.kernel.lifecycle.rebuild(state, { signal });
    expect(await rowsOf(gone.roomId)).to.deep.equal([]);
    expect(await rowsOf(kept.roomId)).to.have.length(2);
  });

  it('closes at the moment its time is up, and the sweep erases it', async () => {
    const [short, long] = [await node.create('Ada', 60_000), await node.create('Bob', 120_000)];
    const held = await node.admitted(short);
    await post(short);
    await node.queries.state(held);
    now += 59_999;
    await node.sweep();
    expect(await node.admitted(short)).to.include({ roomId: short.roomId });
    now += 1;
    expect(await node.authenticator.authenticate(short.roomId, short.sessionToken)).to.include({
      rejected: 'rooms/room-not-found',
    });
    await node.sweep();
    expect(await erased(short.roomId)).to.include('RoomExpired');
    expect(await node.queries.state(held)).to.include({ rejected: 'rooms/room-not-found' });
    expect(await node.admitted(long)).to.include({ roomId: long.roomId });
  });

  it('keeps the newest 1000 messages, and a rebuild says the same', async () => {
    const room = await node.create('Ada');
    const more = 60;
    await filled(room);
    now += MINUTE;
    for (let index = 0; index < more; index++) {
      now += 1600;
      await post(room, MAX_MESSAGES + index);
    }
    const { messages } = await eventually(async () => {
      const found = accepted(await node.queries.state(await node.admitted(room)));
      return found.consistency === undefined && shownBy(found);
    });
    expect(messages.map(({ messageIndex }) => messageIndex)).to.deep.equal(
      Array.from({ length: MAX_MESSAGES }, (_, index) => index + more),
    );
    expect(await eventTypes(messagesStream(room.roomId))).to.have.length(MAX_MESSAGES);
    const { signal } = new AbortController();
    expect(await node.kernel.lifecycle.check(state, { signal })).to.deep.equal([]);
  });

  it('knows on every node who was let in on another, and spends an invite on one', async () => {
    const second = await startNode(servers, database, clock);
    try {
      const room = await node.create('Ada');
      expect(await second.admitted(room)).to.include({ roomId: room.roomId });
      const tokens = Array.from({ length: 5 }, () => `invite-${randomUUID()}`);
      for (const token of tokens) {
        done(await node.commands.invite(await node.admitted(room), token, context()));
      }
      const position = done(await node.commands.invite(await node.admitted(room), 'x'.repeat(20), context()));
      accepted(await second.authenticator.open(room.roomId, position.position));
      for (const token of tokens) {
        const newcomer = { name: 'Bob', signingPublicKey };
        const outcomes = await Promise.all(
          [node, second, node, second].map((each) => each.commands.join(room.roomId, token, newcomer, context())),
        );
        const guests = outcomes.flatMap((outcome) => ('body' in outcome ? [outcome.body] : []));
        expect(guests).to.have.length(1);
        for (const guest of guests) {
          expect(await node.admitted(guest)).to.include({ roomId: room.roomId });
          expect(await second.admitted(guest)).to.include({ roomId: room.roomId });
          await post(guest, 0, second);
        }
      }
    } finally {
      await second.stop();
    }
  });

  it('stores tokens as hashes, and never a name in clear', async () => {
    const room = await node.create('Zanzibar');
    const inviteToken = `invite-${randomUUID()}`;
    done(await node.commands.invite(await node.admitted(room), inviteToken, context()));
    const events = await node.kernel.log.read(roomStream(room.roomId));
    const stored = JSON.stringify(events, (_, value) => (typeof value === 'bigint' ? String(value) : value));
    expect(stored).to.contain(hashOf(room.sessionToken)).and.contain(hashOf(inviteToken));
    for (const secret of ['Zanzibar', room.sessionToken, inviteToken, signingPublicKey.x]) {
      expect(stored).not.to.contain(secret);
    }
    await eventually(async () => (await rowsOf(room.roomId)).length > 0);
    expect(JSON.stringify(await rowsOf(room.roomId))).not.to.contain('Zanzibar');
  });

  it('sweeps any number of rooms', async () => {
    const rooms: JoinResult[] = [];
    // More than are looked at in one go.
    while (rooms.length <= BATCH_SIZE) {
      const some = Array.from({ length: 20 }, (_, n) => node.create('Ada', MINUTE + rooms.length + n));
      rooms.push(...(await Promise.all(some)));
    }
    for (const { roomId } of rooms) await eventually(async () => (await rowsOf(roomId)).length > 0);
    now += 2 * MINUTE;
    await node.sweep();
    for (const { roomId } of rooms) {
      expect(await eventTypes(roomStream(roomId))).to.include('RoomExpired');
    }
  });
});
