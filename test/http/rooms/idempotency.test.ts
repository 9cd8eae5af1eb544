/** Repeated requests to rooms with an Idempotency-Key, while the room exists and afterwards. */
import { expect } from 'chai';
import { roomsPolicy } from '../../../adapters/http/rooms/policy.js';
import { roomsRoutes } from '../../../adapters/http/rooms/routes.js';
import { createRateLimit } from '../../../adapters/http/server/client-network.js';
import { createRelay } from '../../../adapters/realtime/relay/relay.js';
import { rooms } from '../../../application/rooms/audience.js';
import type { JoinResult } from '../../../application/rooms/commands.js';
import { roomStream } from '../../../domain/rooms/room.js';
import { memoryNode } from '../../application/rooms/memory-node.js';
import { memoryWorld } from '../../support/memory-kernel.js';
import { envelope, HOUR, NOON, signingPublicKey } from '../../support/room-fixtures.js';
import { serveToys, type ToyAnswer, type Toys } from '../toy-http-service.js';

const TOKEN = 'an-invite-token-of-32-characters';
const NOT_FOUND = { error: 'Room not found', code: 'ROOM_NOT_FOUND' };
const ROOMS_AN_HOUR = 2;

describe('repeated requests to a room', () => {
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

  interface Command {
    readonly method?: string;
    readonly path: string;
    readonly body?: object | string;
    readonly key?: string;
    readonly token?: string;
  }
  const CREATE: Command = { path: '/rooms', body: { participantName: 'Ada', signingPublicKey }, key: 'create' };

  const send = ({ method = 'POST', path, body = {}, key, token }: Command): Promise<ToyAnswer> =>
    served.ask(path, {
      method,
      headers: {
        'Content-Type': 'application/json',
        ...(key && { 'Idempotency-Key': key }),
        ...(token && { Authorization: `Bearer ${token}` }),
      },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const roomCommand = (to: string, more: Omit<Command, 'path'>): Command => ({
    path: `/rooms/${room.roomId}${to}`,
    token: room.sessionToken,
    ...more,
  });
  const expectSame = (one: ToyAnswer, other: ToyAnswer) => {
    expect([one.status, one.text]).to.deep.equal([other.status, other.text]);
    expect(one.headers.get('position')).to.equal(other.headers.get('position'));
  };
  const resultOf = ({ status, json }: ToyAnswer) => ({ status, ...json });
  const commands = (): readonly Command[] => [
    CREATE,
    roomCommand('/invites', { body: { inviteToken: TOKEN }, key: 'invite' }),
    { path: `/rooms/${room.roomId}/join`, body: { inviteToken: TOKEN, signingPublicKey }, key: 'join' },
    roomCommand('/messages', { body: envelope, key: 'post' }),
  ];
  /** Sends every command, then repeats each. */
  const sendAll = async () => {
    for (const command of commands()) {
      const first = await send(command);
      expect(first.status, command.path).to.be.below(300);
      expectSame(await send(command), first);
    }
  };

  for (const burn of [
    { method: 'POST', to: '/burn' },
    { method: 'DELETE', to: '' },
  ]) {
    it(`answer 404 once the room is burned, except the ${burn.method} that burned it`, async () => {
      await sendAll();
      const burnCommand = roomCommand(burn.to, { method: burn.method, key: 'burn' });
      const first = await send(burnCommand);
      expect(resultOf(first)).to.deep.equal({ status: 200, success: true });
      for (const command of commands()) {
        expect(resultOf(await send(command)), command.path).to.deep.equal({ status: 404, ...NOT_FOUND });
      }
      expectSame(await send(burnCommand), first);
      // The burn can still be repeated after the room's expiry time.
      now += HOUR;
      expectSame(await send(burnCommand), first);
    });

    it(`answer 404 to a ${burn.method} that burned it with another token, key or body`, async () => {
      const burnCommand = roomCommand(burn.to, { method: burn.method, key: 'burn' });
      await send(burnCommand);
      const notFound = { status: 404, ...NOT_FOUND };
      expect(resultOf(await send({ ...burnCommand, token: 'x'.repeat(43) }))).to.deep.equal(notFound);
      const { token: _, ...withoutToken } = burnCommand;
      expect(resultOf(await send(withoutToken))).to.deep.equal(notFound);
      expect(resultOf(await send({ ...burnCommand, key: 'another' }))).to.deep.equal(notFound);
      const { key: __, ...keyless } = burnCommand;
      expect(resultOf(await send(keyless))).to.deep.equal(notFound);
      for (const broken of ['{', '[]']) {
        expect(resultOf(await send({ ...burnCommand, body: broken })), broken).to.deep.equal(notFound);
      }
      expect((await send({ ...burnCommand, body: { other: 1 } })).status).to.equal(422);
    });
  }

  it('change nothing for unauthenticated callers', async () => {
    const unauthenticated = roomCommand('/burn', { key: 'burn', token: 'x'.repeat(43) });
    expect((await send(unauthenticated)).status).to.equal(401);
    expect((await send({ ...unauthenticated, path: `/rooms/${'x'.repeat(5000)}/burn` })).status).to.equal(404);
    const events = await node.log.read(roomStream(room.roomId));
    expect(events).to.have.length(2);
  });

  it('answer 404 once the room has expired', async () => {
    await sendAll();
    now += HOUR;
    for (const command of [...commands(), roomCommand('/burn', { key: 'burn' })]) {
      expect(resultOf(await send(command)), command.path).to.deep.equal({ status: 404, ...NOT_FOUND });
    }
  });

  it('do not count against the limit of new rooms, which answers 429 with a retry time', async () => {
    for (let n = 0; n < 3; n++) expect((await send(CREATE)).status).to.equal(201);
    expect((await send({ ...CREATE, key: 'second' })).status).to.equal(201);
    const third = await send({ ...CREATE, key: 'third' });
    expect(resultOf(third)).to.deep.equal({
      status: 429,
      error: 'Too many rooms',
      code: 'TOO_MANY_ROOMS',
    });
    expect(Number(third.headers.get('retry-after'))).to.be.within(1, 3600);
    expectSame(await send({ ...CREATE, key: 'second' }), await send({ ...CREATE, key: 'second' }));
  });
});
