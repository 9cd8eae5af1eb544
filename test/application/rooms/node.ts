/** A node of the room service without HTTP, optionally on a fake clock. */
import { type Servers, silentLogger } from '@annals/engines/testing/engines.js';
import type { CommandResult } from '../../../application/command/index.js';
import type { Clock, EventLog } from '../../../application/ports/index.js';
import { createRoomAuthenticator } from '../../../application/rooms/authenticate.js';
import { createRoomCommands, type JoinResult } from '../../../application/rooms/commands.js';
import { eraseReaction } from '../../../application/rooms/erase-room-reaction.js';
import { createRoomExpiry } from '../../../application/rooms/expire-rooms.js';
import {
  createRoomCache,
  createRoomQueries,
  type RoomPage,
  type RoomView,
} from '../../../application/rooms/queries.js';
import { runReaction } from '../../../application/subscription/reaction-runner.js';
import { catalog } from '../../../domain/rooms/catalog.js';
import { isRejection, type Rejection } from '../../../domain/shared/decider.js';
import { state } from '../../../projections/rooms/room-state.js';
import { commandsOf } from '../../support/memory-kernel.js';
import { signingPublicKey } from '../../support/room-fixtures.js';
import { project, startServiceKernel } from '../../support/test-kernel.js';
import { context } from '../../support/toy-service.js';

export type Node = Awaited<ReturnType<typeof startNode>>;

/**
 * Starts a node with projector and reaction, on the given clock (always confirmed) or the real one. `between` wraps the
 * log of its commands, for instance to delay appends or lose their answers.
 */
export async function startNode(
  servers: Servers,
  database: string,
  fakeClock?: Clock,
  between: (log: EventLog) => Partial<EventLog> = () => ({}),
) {
  const started = await startServiceKernel({ servers, database, catalog, projections: [state] });
  const { kernel: connected, signal } = started;
  const log = { ...connected.log, ...between(connected.log) };
  const { aggregates, appended } = connected;
  const clock = fakeClock
    ? { now: fakeClock.now, confirmedNow: async () => fakeClock.now(), inSync: () => true }
    : connected.clock;
  const kernel = { ...connected, log, ...commandsOf({ log, aggregates, clock, appended }) };
  const ports = { ...kernel, clock, context: kernel.systemContext };
  const common = { ...kernel, service: 'rooms', logger: silentLogger, signal };
  const projector = project(kernel, [state], signal);
  const reaction = eraseReaction(ports);
  const begun = await kernel.head();
  const reacting = runReaction({ ...common, reaction, begun, reacted: () => {} });
  const authenticator = createRoomAuthenticator(ports);
  const commands = createRoomCommands(ports);
  const cache = createRoomCache(kernel.aggregates);

  return {
    kernel,
    /** The log without `between`. */
    inner: connected.log,
    authenticator,
    commands,
    reaction,
    cache,
    queries: createRoomQueries({ ...ports, cache, livePosition: () => 0n }),
    sweep: () => createRoomExpiry(ports)(signal),

    create: async (name: string, ttlMs = 3_600_000): Promise<JoinResult> =>
      done(await commands.create({ name, signingPublicKey }, ttlMs, context())).body,

    admitted: async ({ roomId, sessionToken }: JoinResult, seen?: bigint) =>
      accepted(await authenticator.authenticate(roomId, sessionToken, seen)),

    stop: () => started.stop([projector.stopped, reacting]),
  };
}

/** The content of a page. */
export const viewOf = ({ json }: RoomPage): RoomView => JSON.parse(json);

/** Returns the outcome, or throws if it is a rejection. */
export function accepted<Outcome extends object>(outcome: Outcome | Rejection): Exclude<Outcome, Rejection> {
  if (isRejection(outcome)) throw new Error(outcome.rejected);
  return outcome as Exclude<Outcome, Rejection>;
}

export const done = <Body>(outcome: CommandResult<Body> | Rejection): CommandResult<Body> => accepted(outcome);
