/** Opening the event stream of a room that ends at the same moment. */
import { expect } from 'chai';
import { roomsRoutes } from '../../../adapters/http/rooms/routes.js';
import type { Request } from '../../../adapters/http/server/route.js';
import { createRelay } from '../../../adapters/realtime/relay/relay.js';
import type { Sink } from '../../../adapters/realtime/relay/sink.js';
import type { RevealedEvent } from '../../../application/ports/index.js';
import { rooms } from '../../../application/rooms/audience.js';
import type { RoomEvent } from '../../../domain/rooms/room.js';
import { burned, created, erased, expired, HOUR, joined, roomId } from '../../support/room-fixtures.js';
import { record, types } from '../../support/toy-service.js';

const recorded = (event: RoomEvent, index: number) =>
  ({ ...event, position: BigInt(index + 1), erased: false }) as unknown as RevealedEvent<RoomEvent>;

/** Opens a stream for a participant authenticated before these events arrived. */
async function openStream(...events: readonly RoomEvent[]) {
  const relay = createRelay({ audience: rooms, head: async () => 1000n });
  for (const [index, event] of events.entries()) relay.publish(recorded(event, index));
  const routes = roomsRoutes({ relay } as unknown as Parameters<typeof roomsRoutes>[0]);
  const { handle } = routes.find(({ path }) => path === '/rooms/:roomId/events')!;
  const caller = { roomId, participant: { id: 'ada' }, room: { expiresAt: Date.now() + HOUR } };
  const answer = await handle({} as Request, caller);
  if (!('stream' in answer)) throw new Error('no stream');
  const client = record();
  (answer.stream as (sink: Sink) => void)(client);
  return { client, close: () => relay.close() };
}

describe('event stream of a room', () => {
  for (const [end, type] of [
    [burned, 'ROOM_BURNED'],
    [expired, 'ROOM_EXPIRED'],
  ] as const) {
    it(`sends ${type} and ends when the room has ended since its client was authenticated`, async () => {
      const { client, close } = await openStream(created, joined('ada'), end);
      expect(client.sent.map(({ message }) => message)).to.deep.equal([{ type, payload: { roomId } }]);
      expect(client.ended).to.equal('over');
      close();
    });
  }

  it('sends CONNECTED and stays open for an open room', async () => {
    const { client, close } = await openStream(created, joined('ada'));
    expect(types(client)[0]).to.equal('CONNECTED');
    expect(client.ended).to.equal(undefined);
    close();
  });

  it('reveals nothing of an erased room', async () => {
    const { client, close } = await openStream(created, burned, erased);
    expect(types(client)).not.to.include('ROOM_BURNED');
    close();
  });

  it("is, like every route of a room, authenticated at the caller's position", async () => {
    const positions: unknown[] = [];
    const authenticator = {
      open: async (_: string, position: unknown) => void positions.push(position),
      authenticate: async (_: string, _token: string, position: unknown) => void positions.push(position),
    };
    const routes = roomsRoutes({ authenticator } as unknown as Parameters<typeof roomsRoutes>[0]);
    const guardedRoutes = routes.filter(({ admit }) => admit);
    for (const { admit } of guardedRoutes) await admit!({ params: { roomId }, query: {}, ifPosition: 7n } as never);
    expect(guardedRoutes.length).to.be.at.least(5);
    expect(positions).to.deep.equal(guardedRoutes.map(() => 7n));
    const state = async (_: unknown, _after: unknown, position: unknown) => {
      positions.push(position);
      return {};
    };
    const deps = { authenticator, queries: { state } } as unknown as Parameters<typeof roomsRoutes>[0];
    const stateRoute = roomsRoutes(deps).find(({ path }) => path.endsWith('/state'))!;
    await stateRoute.handle({ query: {}, ifPosition: 8n } as never, {} as never);
    expect(positions.at(-1)).to.equal(8n);
  });
});
