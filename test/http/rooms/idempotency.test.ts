/** Requests to rooms that come again with their Idempotency-Key: while the room is there, and when it has gone. */
import { expect } from 'chai';
import { roomsPolicy } from '../../../adapters/http/rooms/policy.js';
import { roomsRoutes } from '../../../adapters/http/rooms/routes.js';
import { createRateLimit } from '../../../adapters/http/server/rate-limit.js';
import { createRelay } from '../../../adapters/realtime/relay/relay.js';
import { rooms } from '../../../application/rooms/audience.js';
import type { JoinResult } from '../../../application/rooms/commands.js';
import { roomStream } from '../../../domain/rooms/room.js';
import { memoryNode } from '../../application/rooms/memory-node.js';
import { memoryWorld } from '../../support/memory-kernel.js';
import { envelope, HOUR, NOON, signingPublicKey } from '../../support/room-fixtures.js';
import { serveToys, type Told, type Toys } from '../toy-http-service.js';

const TOKEN = 'an-invite-token-of-32-characters';
const NOT_FOUND = { error: 'Room not found', code: 'ROOM_NOT_FOUND' };
const ROOMS_AN_HOUR = 2;

describe('a request to a room that comes again', () => {
  let now: number;
  let node: ReturnType<typeof memoryNode>;
  let served: Toys;
  let room: JoinResult;

  beforeEach(async () => {
    now = NOON;
    node = memoryNode(memoryWorld(), { now: () => now });
    const routes = roomsRoutes({
      ...node,
      relay: createRelay({ audience: rooms, head: node.head }),
      limitCreates: createRateLimit(ROOMS_AN_HOUR, HOUR),
      minTtlMs: 1,
      maxTtlMs: 24 * HOUR,
    });
    served = await serveToys(routes, roomsPolicy('1', ['*']));
    room = (await send(CREATE)).json as unknown as JoinResult;
  });
  afterEach(() => served.close());

  interface Sent {
    readonly method?: string;
    readonly path: string;
    readonly body?: object | string;
    readonly key?: string;
    readonly token?: string;
  }
  const CREATE: Sent = { path: '/rooms', body: { participantName: 'Ada', signingPublicKey }, key: 'create' };

  const send = ({ method = 'POST', path, body = {}, key, token }: Sent): Promise<Told> =>
    served.ask(path, {
      method,
      headers: {
        'Content-Type': 'application/json',
        ...(key && { 'Idempotency-Key': key }),
        ...(token && { Authorization: `Bearer ${token}` }),
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const inRoom = (to: string, more: Omit<Sent, 'path'>): Sent => ({
    path: `/rooms/${room.roomId}${to}`,
    token: room.sessionToken,
    ...more,
  });
  const same = (one: Told, other: Told) => {
    expect([one.status, one.text]).to.deep.equal([other.status, other.text]);
    expect(one.headers.get('position')).to.equal(other.headers.get('position'));
  };
  const refused = ({ status, json }: Told) => ({ status, ...json });
  const commands = (): readonly Sent[] => [
    CREATE,
    inRoom('/invites', { body: { inviteToken: TOKEN }, key: 'invite' }),
    { path: `/rooms/${room.roomId}/join`, body: { inviteToken: TOKEN, signingPublicKey }, key: 'join' },
    inRoom('/messages', { body: envelope, key: 'post' }),
  ];
  /** Sends all of them, and each again. */
  const sendAll = async () => {
    for (const command of commands()) {
      const first = await send(command);
      expect(first.status, command.path).to.be.below(300);
      same(await send(command), first);
    }
  };

  for (const burn of [
    { method: 'POST', to: '/burn' },
    { method: 'DELETE', to: '' },
  ]) {
    it(`is told that the room is gone, but for the ${burn.method} that burned it`, async () => {
      await sendAll();
      const burning = inRoom(burn.to, { method: burn.method, key: 'burn' });
      const first = await send(burning);
      expect(refused(first)).to.deep.equal({ status: 200, success: true });
      for (const command of commands()) {
        expect(refused(await send(command)), command.path).to.deep.equal({ status: 404, ...NOT_FOUND });
      }
      same(await send(burning), first);
      // When its time would have been up it is still they who burned it.
      now += HOUR;
      same(await send(burning), first);
    });

    it(`does not burn by ${burn.method} for anybody else, with another key, without one, or with another body`, async () => {
      const burning = inRoom(burn.to, { method: burn.method, key: 'burn' });
      await send(burning);
      const gone = { status: 404, ...NOT_FOUND };
      expect(refused(await send({ ...burning, token: 'x'.repeat(43) }))).to.deep.equal(gone);
      const { token: _, ...nobody } = burning;
      expect(refused(await send(nobody))).to.deep.equal(gone);
      expect(refused(await send({ ...burning, key: 'another' }))).to.deep.equal(gone);
      const { key: __, ...keyless } = burning;
      expect(refused(await send(keyless))).to.deep.equal(gone);
      for (const broken of ['{', '[]']) {
        expect(refused(await send({ ...burning, body: broken })), broken).to.deep.equal(gone);
      }
      expect((await send({ ...burning, body: { other: 1 } })).status).to.equal(422);
    });
  }

  it('does nothing for who is not let in: a repetition is looked up, not done', async () => {
    const stranger = inRoom('/burn', { key: 'burn', token: 'x'.repeat(43) });
    expect((await send(stranger)).status).to.equal(401);
    expect((await send({ ...stranger, path: `/rooms/${'x'.repeat(5000)}/burn` })).status).to.equal(404);
    const events = await node.log.read(roomStream(room.roomId));
    expect(events).to.have.length(2);
  });

  it('is told that there is no such room when its time is up', async () => {
    await sendAll();
    now += HOUR;
    for (const command of [...commands(), inRoom('/burn', { key: 'burn' })]) {
      expect(refused(await send(command)), command.path).to.deep.equal({ status: 404, ...NOT_FOUND });
    }
  });

  it('counts as no further room, and one too many is told when to come back', async () => {
    for (let times = 0; times < 3; times++) expect((await send(CREATE)).status).to.equal(201);
    expect((await send({ ...CREATE, key: 'second' })).status).to.equal(201);
    const third = await send({ ...CREATE, key: 'third' });
    expect(refused(third)).to.deep.equal({
      status: 429,
      error: 'Too many rooms',
      code: 'TOO_MANY_ROOMS',
    });
    expect(Number(third.headers.get('retry-after'))).to.be.within(1, 3600);
    same(await send({ ...CREATE, key: 'second' }), await send({ ...CREATE, key: 'second' }));
  });
});
