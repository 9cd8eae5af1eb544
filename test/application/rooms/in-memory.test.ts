/** What people do with rooms, over a log in memory: what they are answered, and who is let in to what. */

import { expect } from 'chai';
import type { Position, RecordedEvent, Rows } from '../../../application/ports.js';
import { takenFor } from '../../../application/recorded.js';
import { unauthorized } from '../../../application/rooms/admission.js';
import type { Entered } from '../../../application/rooms/commands.js';
import { createSweep } from '../../../application/rooms/sweep.js';
import { hashOf } from '../../../application/rooms/tokens.js';
import type { RoomsEvent } from '../../../domain/rooms/catalog.js';
import { messagesStream } from '../../../domain/rooms/messages.js';
import { roomStream } from '../../../domain/rooms/room.js';
import { isRejection, type Rejection } from '../../../domain/shared/decider.js';
import { memoryWorld } from '../../support/memory-kernel.js';
import { envelope, HOUR, NOON, signingPublicKey } from '../../support/rooms.js';
import { context } from '../../support/toys.js';
import { type MemoryNode, memoryNode } from './memory-node.js';
import { accepted, done, shownBy } from './node.js';

const shownKey = { ...signingPublicKey, ext: true, key_ops: ['verify'] };
const ada = { name: 'Ada', signingPublicKey };
const notFound = 'rooms/room-not-found';
const iso = (at: number) => new Date(at).toISOString();

describe('in memory, a room', () => {
  let world: ReturnType<typeof memoryWorld>;
  let one: MemoryNode;
  let other: MemoryNode;
  let now: number;
  const clock = { now: () => now };

  beforeEach(() => {
    now = NOON;
    world = memoryWorld();
    [one, other] = [memoryNode(world, clock), memoryNode(world, clock)];
  });

  const create = async (newcomer: Parameters<MemoryNode['commands']['create']>[0] = ada) =>
    done(await one.commands.create(newcomer, HOUR, context())).body;
  const admitted = async ({ roomId, sessionToken }: Entered, at = one) =>
    accepted(await at.admission.admit(roomId, sessionToken));
  const invited = async (room: Entered, token: string) =>
    done(await one.commands.invite(await admitted(room), token, context()));
  const post = async (room: Entered, messageIndex = 0) =>
    done(await one.commands.post(await admitted(room), { ...envelope, messageIndex }, context()));
  async function eventsOf({ roomId }: Entered): Promise<readonly RecordedEvent[]> {
    const found = await one.log.read(roomStream(roomId));
    if (typeof found === 'string') throw new Error(found);
    return found;
  }
  const TOKEN = 'an-invite-token-of-32-characters';

  it('is entered by its creator, who alone is in it, for as long as was asked', async () => {
    const { roomId, participantId, sessionToken, expiresAt, participants } = await create();
    expect(participants).to.deep.equal([
      { id: participantId, name: 'Ada', joinedAt: iso(NOON), signingPublicKey: shownKey },
    ]);
    expect(expiresAt).to.equal(iso(NOON + HOUR));
    for (const id of [roomId, participantId]) expect(id).to.match(/^[\w-]{22}$/);
    expect(sessionToken).to.match(/^[\w-]{43}$/);
    const stored = JSON.stringify(world.all, (_, each) => (typeof each === 'bigint' ? String(each) : each));
    expect(stored).to.not.include(sessionToken);
    expect(stored).to.include(hashOf(sessionToken));
    expect(world.most.get(messagesStream(roomId))).to.equal(1000);
  });

  it('is made once by a command that comes again, and spends its creator one room', async () => {
    let spent = 0;
    const quota = {
      async spend() {
        spent++;
        return undefined;
      },
      refund: async () => void spent--,
    };
    const how = { ...context('command-1', 'the-body'), quota };
    const first = done(await one.commands.create(ada, HOUR, how));
    now += 1000;
    expect(done(await other.commands.create(ada, HOUR, how))).to.deep.equal(first);
    expect(spent).to.equal(1);
    expect(await create()).to.not.include({ roomId: first.body.roomId });
    now += HOUR;
    expect(await one.commands.create(ada, HOUR, how)).to.include({ rejected: notFound });
  });

  it('is not made of one too many, and nothing is left of it', async () => {
    const tooMany: Rejection = { rejected: 'rooms/too-many-rooms', kind: 'limit', retryAfterMs: 5000 };
    const quota = { spend: async () => tooMany, refund: () => expect.fail('nothing was spent') };
    expect(await one.commands.create(ada, HOUR, { ...context(), quota })).to.equal(tooMany);
    expect(world.all).to.have.length(0);
    expect(world.most.size).to.equal(0);
  });

  it('is joined by an invite, once, and shows everybody in order', async () => {
    const room = await create();
    const { body, position } = await invited(room, TOKEN);
    expect(body.inviteId).to.match(/^[\w-]{22}$/);
    expect(body.expiresAt).to.equal(room.expiresAt);
    expect(position).to.equal(await one.head());
    now += 1000;
    const bob = { name: 'Bob', signingPublicKey };
    const joined = done(await other.commands.join(room.roomId, TOKEN, bob, context()));
    // The node that has not seen him join reads on before it turns him away.
    const { participant } = await admitted(joined.body, one);
    expect(participant.name).to.equal('Bob');
    expect(joined.body.participants.map(({ name, joinedAt }) => [name, joinedAt])).to.deep.equal([
      ['Ada', iso(NOON)],
      ['Bob', iso(NOON + 1000)],
    ]);
    expect(joined.body.sessionToken).not.to.equal(room.sessionToken);
    expect(await one.commands.join(room.roomId, TOKEN, bob, context())).to.include({
      rejected: 'rooms/invite-used',
    });
    expect(await one.commands.join(room.roomId, `${TOKEN}x`, bob, context())).to.include({
      rejected: 'rooms/invite-not-found',
    });
    expect(await one.commands.invite(await admitted(room), TOKEN, context())).to.include({
      rejected: 'rooms/invite-exists',
    });
  });

  it('lets in nobody without a token of its own, and is not there where it is not', async () => {
    const [room, elsewhere] = [await create(), await create()];
    const admit = (roomId: string, token?: string) => one.admission.admit(roomId, token);
    for (const token of [undefined, '', 'x'.repeat(43), elsewhere.sessionToken, `${room.sessionToken}x`])
      expect(await admit(room.roomId, token), String(token)).to.equal(unauthorized);
    const before = one.refreshed();
    for (const malformed of [undefined, '', `${room.sessionToken}x`]) await admit(room.roomId, malformed);
    expect(one.refreshed(), 'no token costs nobody a read of the log').to.equal(before);
    for (const roomId of ['A'.repeat(22), 'short', `${room.roomId}x`, `x${room.roomId}`, ''])
      expect(await admit(roomId, room.sessionToken), roomId).to.include({ rejected: notFound });
    expect(accepted(await one.admission.open(room.roomId)).roomId).to.equal(room.roomId);
    now = NOON + HOUR - 1;
    expect(isRejection(await admit(room.roomId, room.sessionToken))).to.equal(false);
    now = NOON + HOUR;
    expect(await admit(room.roomId, room.sessionToken)).to.include({ rejected: notFound });
    expect(await one.admission.open(room.roomId)).to.include({ rejected: notFound });
  });

  it('is as new as what the caller has seen of it', async () => {
    const room = await create();
    await admitted(room, other);
    const { position } = await invited(room, TOKEN);
    expect(accepted(await other.admission.open(room.roomId)).position < position).to.equal(true);
    expect(accepted(await other.admission.open(room.roomId, position)).position).to.equal(position);
    await invited(room, `${TOKEN}2`);
    const seen = accepted(await other.admission.admit(room.roomId, room.sessionToken, position + 1n));
    expect(seen.position > position).to.equal(true);
  });

  it('takes a message as it came, says when and whose, and never the same twice', async () => {
    const room = await create();
    now += 500;
    const { body, position } = await post(room, 7);
    expect(body).to.deep.equal({
      ...envelope,
      messageIndex: 7,
      id: body.id,
      roomId: room.roomId,
      senderId: room.participantId,
      createdAt: iso(NOON + 500),
      expiresAt: room.expiresAt,
    });
    expect(position).to.equal(await one.head());
    const again = { ...envelope, messageIndex: 7 };
    expect(await one.commands.post(await admitted(room), again, context())).to.include({
      rejected: 'rooms/message-replayed',
    });
    for (const [member, value] of Object.entries(again)) {
      const changed = { ...again, [member]: typeof value === 'number' ? value + 1 : `${value}x` };
      done(await one.commands.post(await admitted(room), changed, context()));
    }
  });

  it('answers a message that is sent again as it did first', async () => {
    const room = await create();
    const how = context('message-1', 'the-body');
    const first = done(await one.commands.post(await admitted(room), envelope, how));
    now += 1000;
    expect(done(await other.commands.post(await admitted(room, other), envelope, how))).to.deep.equal(first);
  });

  const stateOf = async (room: Entered, after?: string, seen?: Position, at = one) =>
    at.queries.state(await admitted(room, at), after, seen);

  it('shows who is in it and what was said, after a message only what came then', async () => {
    const room = await create();
    const messages = [];
    for (const index of [0, 1, 2]) messages.push((await post(room, index)).body);
    const before = one.refreshed();
    const found = accepted(await stateOf(room));
    const { position, consistency } = found;
    expect(one.refreshed(), 'its rows are enough').to.equal(before);
    const { roomId, expiresAt, participants } = room;
    expect(shownBy(found)).to.deep.equal({ roomId, expiresAt, participants, messages });
    expect([position, consistency]).to.deep.equal([await one.head(), undefined]);
    const after = async (id: string) => shownBy(accepted(await stateOf(room, id))).messages;
    expect(await after(messages[0]!.id)).to.deep.equal(messages.slice(1));
    expect(await after(messages[2]!.id)).to.deep.equal([]);
    expect(await after('unknown')).to.deep.equal(messages);
  });

  it('waits for what this node wrote, and for what the caller has seen, and says when it is behind', async () => {
    const room = await create();
    await post(room);
    const head = await one.head();
    await stateOf(room);
    await stateOf(room, undefined, head + 500n);
    expect(one.waited).to.deep.equal([head, head + 500n]);
    const news = (await post(room, 1)).body;
    one.behind(1);
    const found = accepted(await stateOf(room));
    expect(found.consistency).to.equal('pending');
    expect(shownBy(found).messages.map(({ id }) => id))
      .to.have.length(1)
      .and.not.include(news.id);
    expect(found.position < (await one.head())).to.equal(true);
    // Its row is not even there: the log has the last word.
    one.behind(4);
    expect(shownBy(accepted(await stateOf(room))).participants).to.deep.equal(room.participants);
  });

  it('is shown without what is damaged in it, and with who the log says is in it', async () => {
    const room = await create();
    const [first, second] = [(await post(room, 0)).body, (await post(room, 1)).body];
    const [joined, said] = ['rooms.ParticipantJoined.v1', 'rooms.MessagePosted.v1'].map((type) =>
      world.all.find((each) => each.type === type),
    );
    const damage = (stored: unknown) => {
      const { data } = stored as { data: { secret: string } };
      data.secret = Buffer.from('not sealed by anybody here at all').toString('base64');
    };
    damage(said);
    const shown = shownBy(accepted(await stateOf(room)));
    expect(shown.messages).to.deep.equal([second]);
    expect(shown.messages).not.to.deep.include(first);
    expect(shown.participants).to.deep.equal(room.participants);
    damage(joined);
    expect(shownBy(accepted(await stateOf(room))).participants).to.deep.equal(room.participants);
  });

  it('is burned for everybody at once, with all that was said in it', async () => {
    const room = await create();
    await post(room);
    const inside = await admitted(room, other);
    const burnt = done(await one.commands.burn(room.roomId, room.participantId, context()));
    expect(burnt).to.deep.equal({ body: { success: true }, position: await one.head() });
    expect(await one.vault.seal(roomStream(room.roomId), {})).to.equal(undefined);
    expect(await one.admission.admit(room.roomId, room.sessionToken)).to.include({ rejected: notFound });
    // Who was let in a moment before, by a node that has just heard of it.
    other.vault.forget(roomStream(room.roomId));
    expect(await other.queries.state(inside)).to.include({ rejected: notFound });
    expect(await one.commands.burn(room.roomId, room.participantId, context())).to.include({
      rejected: notFound,
    });
  });

  it('is burned by nobody outside', async () => {
    const room = await create();
    expect(await one.commands.burn(room.roomId, 'eve', context())).to.include({
      rejected: 'rooms/not-a-participant',
    });
    expect(await one.vault.seal(roomStream(room.roomId), {})).to.be.a('string');
  });

  it('is erased after its end: its key, its messages, and that is noted once', async () => {
    const room = await create();
    await post(room);
    done(await one.commands.burn(room.roomId, room.participantId, context()));
    const events = await eventsOf(room);
    const end = takenFor<RoomsEvent<'RoomBurned'>>(events.find(({ type }) => type === 'RoomBurned')!);
    expect(Object.keys(one.reaction.on)).to.deep.equal(['RoomBurned', 'RoomExpired']);
    expect(one.reaction.name).to.equal('rooms.erase');
    for (const _ of [1, 2]) await one.reaction.on.RoomBurned(end);
    expect(await one.log.read(messagesStream(room.roomId))).to.equal('deleted');
    const after = await eventsOf(room);
    expect(after.map(({ type }) => type)).to.deep.equal([
      'RoomCreated',
      'ParticipantJoined',
      'RoomBurned',
      'RoomErased',
    ]);
    expect(after.at(-1)!.metadata).to.include({ actor: 'rooms.erase', $causationId: end.id });
    await one.log.tombstone(roomStream(room.roomId));
    one.streams.forget(roomStream(room.roomId));
    const failure = await one.reaction.on
      .RoomBurned({ ...end, id: 'another' })
      .catch((error: Error) => error);
    expect(failure, 'what could not be noted is tried again').to.be.instanceOf(Error);
  });

  it('is told to the log when its time is up, by pages of those that are due', async () => {
    const rooms: { _id: string; expiresAt: number }[] = [];
    for (let index = 0; index < 250; index++) {
      const { roomId } = await create();
      rooms.push({ _id: roomId, expiresAt: NOON + HOUR + index });
    }
    const asked: unknown[] = [];
    const rows: Rows = {
      async find<Row>(projection: string, query: Parameters<Rows['find']>[1]) {
        asked.push(query);
        expect(projection).to.equal('rooms.state');
        const { $gte, $lte } = query.filter.expiresAt as { $gte: number; $lte: number };
        const due = rooms.filter(({ expiresAt }) => expiresAt >= $gte && expiresAt <= $lte);
        return due.slice(0, query.limit) as Row[];
      },
    };
    let certain: number | undefined;
    const certainly = { ...clock, certain: async () => certain, agrees: () => certain !== undefined };
    const sweep = createSweep({ ...one, rows, clock: certainly, context: one.systemContext });
    const ended = () => world.all.filter(({ type }) => type === 'rooms.RoomExpired.v1').length;
    const { signal } = new AbortController();
    now = NOON + HOUR - 1;
    certain = now;
    await sweep(signal);
    expect(ended()).to.equal(0);
    now = NOON + 2 * HOUR;
    certain = undefined;
    await sweep(signal);
    expect(ended(), 'while nobody knows the time').to.equal(0);
    certain = now;
    await sweep(AbortSignal.abort());
    expect(ended(), 'when it is stopped').to.equal(0);
    certain = NOON + HOUR + 99;
    await sweep(signal);
    expect(ended(), 'by the certain time').to.equal(100);
    certain = now;
    asked.length = 0;
    await sweep(signal);
    expect(ended()).to.equal(250);
    expect(asked).to.have.length(3);
    expect(asked[1]).to.deep.include({ sort: { expiresAt: 1 }, limit: 200 });
    await sweep(signal);
    expect(ended()).to.equal(250);
  });
});
