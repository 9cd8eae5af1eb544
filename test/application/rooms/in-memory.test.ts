/** Commands and queries of rooms over a log in memory: answers and access. */
import { expect } from 'chai';
import { asEvent } from '../../../application/command/event-envelope.js';
import { CorruptEventError, type Rows } from '../../../application/ports/index.js';
import { hashOf, unauthorized } from '../../../application/rooms/authenticate.js';
import { createRoomExpiry } from '../../../application/rooms/expire-rooms.js';
import type { RoomsEvent } from '../../../domain/rooms/catalog.js';
import { messagesStream } from '../../../domain/rooms/messages.js';
import { roomStream } from '../../../domain/rooms/room.js';
import { isRejection, type Rejection } from '../../../domain/shared/decider.js';
import { HOUR, NOON, signingPublicKey } from '../../support/room-fixtures.js';
import { context } from '../../support/toy-service.js';
import { ada, TOKEN, useMemoryNodes } from './memory-node.js';
import { accepted, done } from './node.js';

const publicKeyView = { ...signingPublicKey, ext: true, key_ops: ['verify'] };
const notFound = 'rooms/room-not-found';
const iso = (at: number) => new Date(at).toISOString();

describe('in memory, a room', () => {
  const nodes = useMemoryNodes();
  const { create, admitted, invited, post, eventsOf } = nodes;

  it('contains only its creator at first, and exists for the requested time', async () => {
    const { roomId, participantId, sessionToken, expiresAt, participants } = await create();
    expect(participants).to.deep.equal([
      { id: participantId, name: 'Ada', joinedAt: iso(NOON), signingPublicKey: publicKeyView },
    ]);
    expect(expiresAt).to.equal(iso(NOON + HOUR));
    for (const id of [roomId, participantId]) expect(id).to.match(/^[\w-]{22}$/);
    expect(sessionToken).to.match(/^[\w-]{43}$/);
    const stored = JSON.stringify(nodes.world.all, (_, each) => (typeof each === 'bigint' ? String(each) : each));
    expect(stored).to.not.include(sessionToken);
    expect(stored).to.include(hashOf(sessionToken));
    expect(nodes.world.most.get(messagesStream(roomId))).to.equal(1000);
  });

  it('is created once by a repeated command, which spends one unit of quota', async () => {
    let spent = 0;
    const quota = {
      async spend() {
        spent++;
        return undefined;
      },
      refund: async () => void spent--,
    };
    const how = { ...context('command-1', 'the-body'), quota };
    const first = done(await nodes.one.commands.create(ada, HOUR, how));
    nodes.now += 1000;
    expect(done(await nodes.other.commands.create(ada, HOUR, how))).to.deep.equal(first);
    expect(spent).to.equal(1);
    expect(await create()).to.not.include({ roomId: first.body.roomId });
    nodes.now = NOON + HOUR - 1;
    expect(done(await nodes.one.commands.create(ada, HOUR, how))).to.deep.equal(first);
    nodes.now = NOON + HOUR;
    expect(await nodes.one.commands.create(ada, HOUR, how)).to.include({ rejected: notFound });
  });

  it('is not created beyond the quota, and leaves no trace', async () => {
    const tooMany: Rejection = { rejected: 'rooms/too-many-rooms', kind: 'limit', retryAfterMs: 5000 };
    const quota = { spend: async () => tooMany, refund: () => expect.fail('nothing was spent') };
    expect(await nodes.one.commands.create(ada, HOUR, { ...context(), quota })).to.equal(tooMany);
    expect(nodes.world.all).to.have.length(0);
    expect(nodes.world.most.size).to.equal(0);
  });

  it('is joined once per invite, and lists participants in order of joining', async () => {
    const room = await create();
    const { body, position } = await invited(room, TOKEN);
    expect(body.inviteId).to.match(/^[\w-]{22}$/);
    expect(body.expiresAt).to.equal(room.expiresAt);
    expect(position).to.equal(await nodes.one.head());
    nodes.now += 1000;
    const bob = { name: 'Bob', signingPublicKey };
    const joined = done(await nodes.other.commands.join(room.roomId, TOKEN, bob, context()));
    // A node that has not seen Bob join reads the log before it rejects him.
    const { participant } = await admitted(joined.body, nodes.one);
    expect(participant.name).to.equal('Bob');
    expect(joined.body.participants.map(({ name, joinedAt }) => [name, joinedAt])).to.deep.equal([
      ['Ada', iso(NOON)],
      ['Bob', iso(NOON + 1000)],
    ]);
    expect(joined.body.sessionToken).not.to.equal(room.sessionToken);
    expect(await nodes.one.commands.join(room.roomId, TOKEN, bob, context())).to.include({
      rejected: 'rooms/invite-used',
    });
    expect(await nodes.one.commands.join(room.roomId, `${TOKEN}x`, bob, context())).to.include({
      rejected: 'rooms/invite-not-found',
    });
    expect(await nodes.one.commands.invite(await admitted(room), TOKEN, context())).to.include({
      rejected: 'rooms/invite-exists',
    });
  });

  it('authenticates only its own session tokens, and is not found after its time', async () => {
    const [room, otherRoom] = [await create(), await create()];
    const admit = (roomId: string, token?: string) => nodes.one.authenticator.authenticate(roomId, token);
    for (const token of [undefined, '', 'x'.repeat(43), otherRoom.sessionToken, `${room.sessionToken}x`])
      expect(await admit(room.roomId, token), String(token)).to.equal(unauthorized);
    const before = nodes.one.refreshed();
    for (const malformed of [undefined, '', `${room.sessionToken}x`]) await admit(room.roomId, malformed);
    expect(nodes.one.refreshed(), 'a malformed token costs no read of the log').to.equal(before);
    for (const roomId of ['A'.repeat(22), 'short', `${room.roomId}x`, `x${room.roomId}`, ''])
      expect(await admit(roomId, room.sessionToken), roomId).to.include({ rejected: notFound });
    expect(accepted(await nodes.one.authenticator.open(room.roomId)).roomId).to.equal(room.roomId);
    nodes.now = NOON + HOUR - 1;
    expect(isRejection(await admit(room.roomId, room.sessionToken))).to.equal(false);
    nodes.now = NOON + HOUR;
    expect(await admit(room.roomId, room.sessionToken)).to.include({ rejected: notFound });
    expect(await nodes.one.authenticator.open(room.roomId)).to.include({ rejected: notFound });
  });

  it('is at least as current as the position the caller has seen', async () => {
    const room = await create();
    await admitted(room, nodes.other);
    const { position } = await invited(room, TOKEN);
    expect(accepted(await nodes.other.authenticator.open(room.roomId)).position < position).to.equal(true);
    expect(accepted(await nodes.other.authenticator.open(room.roomId, position)).position).to.equal(position);
    await invited(room, `${TOKEN}2`);
    const seen = accepted(await nodes.other.authenticator.authenticate(room.roomId, room.sessionToken, position + 1n));
    expect(seen.position > position).to.equal(true);
  });

  it('is burned immediately for everyone, with all of its messages', async () => {
    const room = await create();
    await post(room);
    const inside = await admitted(room, nodes.other);
    const burnResult = done(await nodes.one.commands.burn(room.roomId, room.participantId, context()));
    expect(burnResult).to.deep.equal({ body: { success: true }, position: await nodes.one.head() });
    expect(await nodes.one.vault.seal(roomStream(room.roomId), {})).to.equal(undefined);
    expect(await nodes.one.authenticator.authenticate(room.roomId, room.sessionToken)).to.include({
      rejected: notFound,
    });
    // A caller authenticated a moment before, on a node without a cached key.
    nodes.other.vault.forget(roomStream(room.roomId));
    expect(await nodes.other.queries.state(inside)).to.include({ rejected: notFound });
    expect(await nodes.one.commands.burn(room.roomId, room.participantId, context())).to.include({
      rejected: notFound,
    });
  });

  it('cannot be burned by an outsider', async () => {
    const room = await create();
    expect(await nodes.one.commands.burn(room.roomId, 'eve', context())).to.include({
      rejected: 'rooms/not-a-participant',
    });
    expect(await nodes.one.vault.seal(roomStream(room.roomId), {})).to.be.a('string');
  });

  it('is erased after its end: key and messages, recorded once', async () => {
    const room = await create();
    await post(room);
    done(await nodes.one.commands.burn(room.roomId, room.participantId, context()));
    const events = await eventsOf(room);
    const end = asEvent<RoomsEvent<'RoomBurned'>>(events.find(({ type }) => type === 'RoomBurned')!);
    expect(Object.keys(nodes.one.reaction.on)).to.deep.equal(['RoomBurned', 'RoomExpired']);
    expect(nodes.one.reaction.name).to.equal('rooms.erase');
    for (const _ of [1, 2]) await nodes.one.reaction.on.RoomBurned(end);
    expect(await nodes.one.log.read(messagesStream(room.roomId))).to.equal('deleted');
    const after = await eventsOf(room);
    expect(after.map(({ type }) => type)).to.deep.equal([
      'RoomCreated',
      'ParticipantJoined',
      'RoomBurned',
      'RoomErased',
    ]);
    expect(after.at(-1)!.metadata).to.include({ actor: 'rooms.erase', $causationId: end.id });
    await nodes.one.log.tombstone(roomStream(room.roomId));
    nodes.one.aggregates.forget(roomStream(room.roomId));
    const failure = await nodes.one.reaction.on.RoomBurned({ ...end, id: 'another' }).catch((error: Error) => error);
    expect(failure, 'a failure is retried').to.be.instanceOf(Error);
  });

  it('expires when its time is up, in batches by expiry time', async () => {
    const rooms: { _id: string; expiresAt: number }[] = [];
    for (let index = 0; index < 250; index++) {
      const { roomId } = await create();
      rooms.push({ _id: roomId, expiresAt: NOON + HOUR + index });
    }
    const queries: unknown[] = [];
    const rows: Rows = {
      async find<Row>(projection: string, query: Parameters<Rows['find']>[1]) {
        queries.push(query);
        expect(projection).to.equal('rooms.state');
        const { $gte, $lte } = query.filter.expiresAt as { $gte: number; $lte: number };
        const due = rooms.filter(({ expiresAt }) => expiresAt >= $gte && expiresAt <= $lte);
        return due.slice(0, query.limit) as Row[];
      },
    };
    let confirmed: number | undefined;
    const confirmedClock = {
      ...nodes.clock,
      confirmedNow: async () => confirmed,
      inSync: () => confirmed !== undefined,
    };
    const sweep = createRoomExpiry({ ...nodes.one, rows, clock: confirmedClock, context: nodes.one.systemContext });
    const ended = () => nodes.world.all.filter(({ type }) => type === 'rooms.RoomExpired.v1').length;
    const { signal } = new AbortController();
    nodes.now = NOON + HOUR - 1;
    confirmed = nodes.now;
    await sweep(signal);
    expect(ended()).to.equal(0);
    nodes.now = NOON + 2 * HOUR;
    confirmed = undefined;
    await sweep(signal);
    expect(ended(), 'while the time is unconfirmed').to.equal(0);
    confirmed = nodes.now;
    await sweep(AbortSignal.abort());
    expect(ended(), 'after a stop').to.equal(0);
    confirmed = NOON + HOUR + 99;
    await sweep(signal);
    expect(ended(), 'by the confirmed time').to.equal(100);
    confirmed = nodes.now;
    queries.length = 0;
    await sweep(signal);
    expect(ended()).to.equal(250);
    expect(queries).to.have.length(3);
    expect(queries[1]).to.deep.include({ sort: { expiresAt: 1 }, limit: 200 });
    await sweep(signal);
    expect(ended()).to.equal(250);
  });

  it('expires even if the stream of an earlier room is corrupt', async () => {
    const rooms: { _id: string; expiresAt: number }[] = [];
    for (let index = 0; index < 201; index++) {
      const { roomId } = await create();
      rooms.push({ _id: roomId, expiresAt: NOON + HOUR + index });
    }
    const rows: Rows = {
      async find<Row>(_: string, query: Parameters<Rows['find']>[1]) {
        const { $gte, $lte } = query.filter.expiresAt as { $gte: number; $lte: number };
        const due = rooms.filter(({ expiresAt }) => expiresAt >= $gte && expiresAt <= $lte);
        return due.slice(0, query.limit) as Row[];
      },
    };
    const handle: typeof nodes.one.handle = (kind, stream, ...rest) =>
      stream === roomStream(rooms[0]!._id)
        ? Promise.reject(new CorruptEventError('the log is damaged'))
        : nodes.one.handle(kind, stream, ...rest);
    nodes.now = NOON + 2 * HOUR;
    const clock = { ...nodes.clock, confirmedNow: async () => nodes.now, inSync: () => true };
    const sweep = createRoomExpiry({ ...nodes.one, handle, rows, clock, context: nodes.one.systemContext });
    const before = nodes.world.all.length;
    const failure = await sweep(new AbortController().signal).catch((error) => error);
    expect(failure).to.be.instanceOf(CorruptEventError);
    expect(nodes.world.all.length - before).to.equal(200);
  });
});
