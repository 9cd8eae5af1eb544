/** Streams of rooms that end in the very moment: whoever was let in just before is told so, and that is all. */
import { expect } from 'chai';
import { roomsRoutes } from '../../../adapters/http/rooms/routes.js';
import type { Request } from '../../../adapters/http/server/route.js';
import { createRelay } from '../../../adapters/realtime/relay/relay.js';
import type { Sink } from '../../../adapters/realtime/relay/sink.js';
import type { RevealedEvent } from '../../../application/ports/index.js';
import { rooms } from '../../../application/rooms/audience.js';
import type { RoomEvent } from '../../../domain/rooms/room.js';
import { burned, created, erased, expired, HOUR, joined, roomId } from '../../support/room-fixtures.js';
import { record, types } from '../../support/toy-audience.js';

const recorded = (event: RoomEvent, index: number) =>
  ({ ...event, position: BigInt(index + 1), erased: false }) as unknown as RevealedEvent<RoomEvent>;

/** Opens the stream of somebody who was let in before these events were known here. */
async function opened(...events: readonly RoomEvent[]) {
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

describe('the stream of a room', () => {
  for (const [end, type] of [
    [burned, 'ROOM_BURNED'],
    [expired, 'ROOM_EXPIRED'],
  ] as const) {
    it(`says ${type} and ends where the room has ended since its client was let in`, async () => {
      const { client, close } = await opened(created, joined('ada'), end);
      expect(client.sent.map(({ message }) => message)).to.deep.equal([{ type, payload: { roomId } }]);
      expect(client.ended).to.equal('over');
      close();
    });
  }

  it('greets, and stays, where the room is open', async () => {
    const { client, close } = await opened(created, joined('ada'));
    expect(types(client)[0]).to.equal('CONNECTED');
    expect(client.ended).to.equal(undefined);
    close();
  });

  it('knows nothing any more of a room that is erased', async () => {
    const { client, close } = await opened(created, burned, erased);
    expect(types(client)).not.to.include('ROOM_BURNED');
    close();
  });

  it('and every other door of a room let in as of what the caller has seen', async () => {
    const seen: unknown[] = [];
    const authenticator = {
      open: async (_: string, position: unknown) => void seen.push(position),
      authenticate: async (_: string, _token: string, position: unknown) => void seen.push(position),
    };
    const routes = roomsRoutes({ authenticator } as unknown as Parameters<typeof roomsRoutes>[0]);
    const doors = routes.filter(({ admit }) => admit);
    for (const { admit } of doors) await admit!({ params: { roomId }, query: {}, ifPosition: 7n } as never);
    expect(doors.length).to.be.at.least(5);
    expect(seen).to.deep.equal(doors.map(() => 7n));
    const state = async (_: unknown, _after: unknown, position: unknown) => {
      seen.push(position);
      return {};
    };
    const deps = { authenticator, queries: { state } } as unknown as Parameters<typeof roomsRoutes>[0];
    const reading = roomsRoutes(deps).find(({ path }) => path.endsWith('/state'))!;
    await reading.handle({ query: {}, ifPosition: 8n } as never, {} as never);
    expect(seen.at(-1)).to.equal(8n);
  });
});
