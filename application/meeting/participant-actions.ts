/** What people do in a meeting room over their sockets, but for what they say; and that they go. */
import type { InsideCommand } from '../../domain/meeting/participant-actions.js';
import { roomStream } from '../../domain/meeting/state.js';
import { isRejection, type Rejection } from '../../domain/shared/index.js';
import type { HandleCommand } from '../command/index.js';
import { sleep } from '../concurrency/index.js';
import { type Clock, type CommandContext, type Logger, type Position, UnavailableError } from '../ports/index.js';
import { roomAggregate } from './aggregates.js';

export interface InsidePorts {
  readonly handle: HandleCommand;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Aborted when the process stops. */
  readonly signal: AbortSignal;
}

/** What came of a command: nothing where it was so already. */
export interface Acted {
  readonly changed: boolean;
  readonly position: Position;
}

/** Somebody at a place of theirs. */
export interface Placed {
  readonly roomId: string;
  readonly participantId: string;
  readonly seat: { readonly id: string };
}

type Untimed<Command> = Command extends unknown ? Omit<Command, 'now'> : never;

export type Inside = ReturnType<typeof createParticipantActions>;

const RETRY_MS = 1000;

export function createParticipantActions({ handle, clock, logger, signal }: InsidePorts) {
  /** Rejects with `Unavailable`. */
  async function execute(command: Untimed<InsideCommand>, context: CommandContext): Promise<Acted | Rejection> {
    const { roomId, by } = command;
    const timed = { ...command, now: clock.now() } as InsideCommand;
    const outcome = await handle(roomAggregate, roomStream(roomId), timed, { ...context, actor: by });
    if (isRejection(outcome)) return outcome;
    return { changed: outcome.events.length > 0, position: outcome.position };
  }

  /** Whether they were inside, or waited, at that seat. Rejects with `Unavailable`. */
  async function leave(
    { roomId, participantId, seat }: Placed,
    context: CommandContext,
    isLost = false,
  ): Promise<boolean> {
    const where = { roomId, participantId, seat: seat.id };
    const command = { type: 'LeaveRoom' as const, ...where, isLost, now: clock.now() };
    const outcome = await handle(roomAggregate, roomStream(roomId), command, {
      ...context,
      actor: participantId,
    });
    return !isRejection(outcome) && outcome.events.length > 0;
  }

  /** Tells the log that their connection is lost: their place is held. Rejects with `Unavailable`. */
  async function lose({ roomId, participantId, seat }: Placed, context: CommandContext): Promise<void> {
    const where = { seat: seat.id };
    const command = { type: 'LoseConnection' as const, roomId, where, now: clock.now() };
    await handle(roomAggregate, roomStream(roomId), command, { ...context, actor: participantId });
  }

  /** Tells the log that a connection which was taken for lost is still there, at this node. Never rejects. */
  async function stay(placed: Placed, node: string, context: () => CommandContext): Promise<void> {
    const { roomId, participantId, seat } = placed;
    const where = { roomId, participantId, node, seat: seat.id };
    const by = () => ({ ...context(), actor: participantId });
    await untilAppended(placed, () =>
      handle(roomAggregate, roomStream(roomId), { type: 'ReturnToRoom', ...where, now: clock.now() }, by()),
    );
  }

  /**
   * Has somebody leave whose connection is gone. Where their place is held for so many ms, they leave after that unless
   * they have come back. Never rejects.
   */
  async function leaveWhenDisconnected(placed: Placed, context: () => CommandContext, heldMs = 0): Promise<void> {
    if (heldMs > 0) {
      await untilAppended(placed, () => lose(placed, context()));
      await sleep(heldMs, signal);
    }
    await untilAppended(placed, () => leave(placed, context(), heldMs > 0));
  }

  /** Retries until the log has taken it, or the process stops. Never rejects. */
  async function untilAppended({ roomId: room }: Placed, run: () => Promise<unknown>): Promise<void> {
    while (!signal.aborted) {
      try {
        await run();
        return;
      } catch (err) {
        if (!(err instanceof UnavailableError)) {
          logger.error({ err, room }, 'the log was not told what became of a connection to a meeting');
          return;
        }
        logger.warn({ err, room }, 'the log was not told what became of a connection to a meeting, trying again');
        await sleep(RETRY_MS, signal);
      }
    }
  }

  return { execute, leave, leaveWhenDisconnected, stay };
}
