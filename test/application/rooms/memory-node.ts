/** A node of the room service over a log in memory, on a fake clock, with rows that can lag behind. */
import type { Position, RecordedEvent, Rows } from '../../../application/ports/index.js';
import { createRoomAuthenticator } from '../../../application/rooms/authenticate.js';
import { createRoomCommands, type JoinResult } from '../../../application/rooms/commands.js';
import { eraseReaction } from '../../../application/rooms/erase-room-reaction.js';
import { createRoomCache, createRoomQueries } from '../../../application/rooms/queries.js';
import { catalog } from '../../../domain/rooms/catalog.js';
import { messagesStream } from '../../../domain/rooms/messages.js';
import { roomStream } from '../../../domain/rooms/room.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { envelope, HOUR, NOON, signingPublicKey } from '../../support/room-fixtures.js';
import { context } from '../../support/toy-service.js';
import { accepted, done } from './node.js';

export type MemoryNode = ReturnType<typeof memoryNode>;

export function memoryNode(world: ReturnType<typeof memoryWorld>, clock: { now(): number }) {
  const kernel = memoryKernel(world, [catalog], clock);
  let lag = 0;
  /** The rows of the projection, without the last `lag` events. */
  const rows: Rows = {
    async find<Row>(_: string, { filter }: Parameters<Rows['find']>[1]) {
      const roomId = String(filter.room);
      const read = async (stream: string) => {
        const found = await kernel.log.read(stream);
        return typeof found === 'string' ? [] : found;
      };
      const [room, posted] = [await read(roomStream(roomId)), await read(messagesStream(roomId))];
      const all = [...room, ...posted].toSorted((a, b) => Number(a.position - b.position));
      const seen = all.slice(0, all.length - lag);
      const positionOf = (from: typeof seen) => ({ toBigInt: () => from.at(-1)?.position ?? 0n });
      const [people, messages] = [
        seen.filter(({ type }) => type === 'ParticipantJoined'),
        seen.filter(({ type }) => type === 'MessagePosted'),
      ];
      const participants = people.map(({ data }) => ({ ...data, id: data.participantId }));
      const own = {
        _at: positionOf(seen.filter(({ stream }) => stream === roomStream(roomId))),
        participants,
      };
      const posts = messages.map(({ data, revision }) => ({ ...data, revision, id: data.messageId }));
      return [...(people.length > 0 ? [own] : []), { _at: positionOf(messages), messages: posts }] as Row[];
    },
  };
  const waited: Position[] = [];
  const projectionProgress = {
    ...kernel.projectionProgress,
    wait: async (_: string, position: Position) => {
      waited.push(position);
      return lag === 0;
    },
  };
  let refreshed = 0;
  const aggregates: typeof kernel.aggregates = {
    ...kernel.aggregates,
    reload: (...args) => {
      refreshed++;
      return kernel.aggregates.reload(...args);
    },
  };
  const cache = createRoomCache(kernel.aggregates);
  const ports = { ...kernel, aggregates, clock, rows, projectionProgress, cache, livePosition: () => 0n };
  return {
    ...kernel,
    rows,
    /** Number of reloads from the log. */
    refreshed: () => refreshed,
    waited,
    commands: createRoomCommands(ports),
    queries: createRoomQueries(ports),
    authenticator: createRoomAuthenticator(ports),
    reaction: eraseReaction(ports),
    behind: (events: number) => {
      lag = events;
    },
  };
}

export const ada = { name: 'Ada', signingPublicKey };
export const TOKEN = 'an-invite-token-of-32-characters';

/** Two nodes over one log for every test of a `describe`; their clock is set through `now`. */
export function useMemoryNodes() {
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

  const admitted = async ({ roomId, sessionToken }: JoinResult, at = one) =>
    accepted(await at.authenticator.authenticate(roomId, sessionToken));
  return {
    clock,
    get world() {
      return world;
    },
    get one() {
      return one;
    },
    get other() {
      return other;
    },
    get now() {
      return now;
    },
    set now(at: number) {
      now = at;
    },
    create: async (newcomer: Parameters<MemoryNode['commands']['create']>[0] = ada) =>
      done(await one.commands.create(newcomer, HOUR, context())).body,
    admitted,
    invited: async (room: JoinResult, token: string) =>
      done(await one.commands.invite(await admitted(room), token, context())),
    post: async (room: JoinResult, messageIndex = 0) =>
      done(await one.commands.post(await admitted(room), { ...envelope, messageIndex }, context())),
    async eventsOf({ roomId }: JoinResult): Promise<readonly RecordedEvent[]> {
      const found = await one.log.read(roomStream(roomId));
      if (typeof found === 'string') throw new Error(found);
      return found;
    },
  };
}
