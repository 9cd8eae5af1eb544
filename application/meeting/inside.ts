/** What people do in a meeting room over their sockets, but for what they say; and that they go. */
import type { InsideCommand } from '../../domain/meeting/inside.js';
import { roomStream } from '../../domain/meeting/state.js';
import { isRejection, type Rejection } from '../../domain/shared/decider.js';
import type { Handle } from '../command/handle.js';
import { pause } from '../pause.js';
import { type Clock, type CommandContext, type Logger, type Position, Unavailable } from '../ports.js';
import { roomKind } from './kinds.js';

export interface InsidePorts {
  readonly handle: Handle;
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

export type Inside = ReturnType<typeof createInside>;

const RETRY_MS = 1000;

export function createInside({ handle, clock, logger, signal }: InsidePorts) {
  /** Rejects with `Unavailable`. */
  async function act(command: Untimed<InsideCommand>, context: CommandContext): Promise<Acted | Rejection> {
    const { roomId, by } = command;
    const timed = { ...command, now: clock.now() } as InsideCommand;
    const outcome = await handle(roomKind, roomStream(roomId), timed, { ...context, actor: by });
    if (isRejection(outcome)) return outcome;
    return { changed: outcome.events.length > 0, position: outcome.position };
  }

  /** Whether they were inside, or waited, at that seat. Rejects with `Unavailable`. */
  async function leave({ roomId, participantId, seat }: Placed, context: CommandContext): Promise<boolean> {
    const command = { type: 'LeaveRoom' as const, roomId, participantId, seat: seat.id, now: clock.now() };
    const outcome = await handle(roomKind, roomStream(roomId), command, { ...context, actor: participantId });
    return !isRejection(outcome) && outcome.events.length > 0;
  }

  /**
   * The same of whose connection is gone, unless they have come back within so many ms: tried until the log has taken
   * it, or the process stops. Never rejects.
   */
  async function depart(placed: Placed, context: () => CommandContext, afterMs = 0): Promise<void> {
    if (afterMs > 0) await pause(afterMs, signal);
    while (!signal.aborted) {
      try {
        await leave(placed, context());
        return;
      } catch (err) {
        if (!(err instanceof Unavailable)) {
          logger.error({ err, room: placed.roomId }, 'somebody left a meeting, and the log was not told');
          return;
        }
        logger.warn({ err, room: placed.roomId }, 'the log was not told that somebody left, trying again');
        await pause(RETRY_MS, signal);
      }
    }
  }

  return { act, leave, depart };
}
