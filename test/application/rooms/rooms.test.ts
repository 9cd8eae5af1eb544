/** Rooms on the servers: end and erasure, bounded messages, and several nodes. */
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
import { accepted, done, type Node, startNode, viewOf } from './node.js';

/** The window in which messages of a participant are rate limited. */
const MINUTE = 60_000;

describe('rooms on the servers', function () {
  this.timeout(120_000);
  let servers: Servers;
  let node: Node;
  let database: string;
  let now: number;
  const clock = { now: () => now };

  before(async () => {
    servers = await startServers();
    // One database for all tests, so that each node continues where the last one ended.
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

  /** Appends the maximum number of messages directly, since one command each would take too long. */
  async function fillRoom({ roomId, participantId: senderId }: JoinResult) {
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

  /** Waits until the room is erased. */
  const erased = (roomId: string) =>
    eventually(async () => {
      const types = await eventTypes(roomStream(roomId));
      return types.includes('RoomErased') && (await rowsOf(roomId)).length === 0 && types;
    });

  it('leave only their events after a burn: no key, no messages, no rows', async () => {
    const room = await node.create('Ada');
    await post(room);
    expect(viewOf(accepted(await node.queries.state(await node.admitted(room)))).messages).to.have.length(1);
    const { participant } = await node.admitted(room);
    done(await node.commands.burn(room.roomId, participant.id, context()));
    expect(await node.kernel.vault.seal(roomStream(room.roomId), {}), 'when the burn is answered').to.equal(undefined);
    expect(await erased(room.roomId)).to.deep.equal(['RoomCreated', 'ParticipantJoined', 'RoomBurned', 'RoomErased']);
    expect(await eventTypes(messagesStream(room.roomId))).to.equal('deleted');
  });

  it('can be erased twice, as after a crash', async () => {
    const room = await node.create('Ada');
    const { participant } = await node.admitted(room);
    done(await node.commands.burn(room.roomId, participant.id, context()));
    const types = await erased(room.roomId);
    const events = await node.kernel.log.read(roomStream(room.roomId));
    const end = typeof events === 'string' ? undefined : events.find(({ type }) => type === 'RoomBurned');
    await node.reaction.on.RoomBurned(asEvent(end!));
    expect(await eventTypes(roomStream(room.roomId))).to.deep.equal(types);
  });

  it('do not reappear in a rebuild after erasure', async () => {
    const openRoom = await node.create('Bob');
    const burnedRoom = await node.create('Ada');
    await post(burnedRoom);
    await post(openRoom);
    const { participant } = await node.admitted(burnedRoom);
    done(await node.commands.burn(burnedRoom.roomId, participant.id, context()));
    await erased(burnedRoom.roomId);
    const { signal } = new AbortController();
    expect(await node.kernel.lifecycle.check(state, { signal })).to.deep.equal([]);
    await node.kernel.lifecycle.rebuild(state, { signal });
    expect(await rowsOf(burnedRoom.roomId)).to.deep.equal([]);
    expect(await rowsOf(openRoom.roomId)).to.have.length(2);
  });

  it('close when their time is up, and are erased by the expiry job', async () => {
    const [short, long] = [await node.create('Ada', 60_000), await node.create('Bob', 120_000)];
    const caller = await node.admitted(short);
    await post(short);
    await node.queries.state(caller);
    now += 59_999;
    await node.sweep();
    expect(await node.admitted(short)).to.include({ roomId: short.roomId });
    now += 1;
    expect(await node.authenticator.authenticate(short.roomId, short.sessionToken)).to.include({
      rejected: 'rooms/room-not-found',
    });
    await node.sweep();
    expect(await erased(short.roomId)).to.include('RoomExpired');
    expect(await node.queries.state(caller)).to.include({ rejected: 'rooms/room-not-found' });
    expect(await node.admitted(long)).to.include({ roomId: long.roomId });
  });

  it('keep the newest 1000 messages, also in a rebuild', async () => {
    const room = await node.create('Ada');
    const more = 60;
    await fillRoom(room);
    now += MINUTE;
    for (let index = 0; index < more; index++) {
      now += 1600;
      await post(room, MAX_MESSAGES + index);
    }
    const { messages } = await eventually(async () => {
      const found = accepted(await node.queries.state(await node.admitted(room)));
      return found.consistency === undefined && viewOf(found);
    });
    expect(messages.map(({ messageIndex }) => messageIndex)).to.deep.equal(
      Array.from({ length: MAX_MESSAGES }, (_, index) => index + more),
    );
    expect(await eventTypes(messagesStream(room.roomId))).to.have.length(MAX_MESSAGES);
    const { signal } = new AbortController();
    expect(await node.kernel.lifecycle.check(state, { signal })).to.deep.equal([]);
  });

  it('accept sessions and invites of other nodes, and each invite once', async () => {
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

  it('store tokens as hashes, and names encrypted', async () => {
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

  it('expire in any number', async () => {
    const rooms: JoinResult[] = [];
    // More rooms than one batch handles.
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
