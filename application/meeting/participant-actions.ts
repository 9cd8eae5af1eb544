/** Executes participants' commands in a room, and records lost connections and departures. */

import type { ParticipantCommand } from '../../domain/meeting/commands.js';
import { roomStream } from '../../domain/meeting/state.js';
import { isRejection } from '../../domain/shared/index.js';
import type { KernelPorts } from '../command/index.js';
import { sleep } from '../concurrency/index.js';
import { type CommandContext, UnavailableError } from '../ports/index.js';
import { roomAggregate } from './aggregates.js';

export interface ParticipantActionPorts extends Pick<KernelPorts, 'handle' | 'clock' | 'logger'> {
  /** Aborted when the process stops. */
  readonly signal: AbortSignal;
}

/** A participant's seat in a room. */
export interface SeatRef {
  readonly roomId: string;
  readonly participantId: string;
  readonly seat: { readonly id: string };
}

type WithoutTime<Command> = Command extends unknown ? Omit<Command, 'now'> : never;

export type ParticipantActions = ReturnType<typeof createParticipantActions>;

const RETRY_MS = 1000;

export function createParticipantActions({ handle, clock, logger, signal }: ParticipantActionPorts) {
  /** Throws `UnavailableError`. */
  async function execute(command: WithoutTime<ParticipantCommand>, context: CommandContext) {
    const { roomId, by } = command;
    const timedCommand = { ...command, now: clock.now() } as ParticipantCommand;
    const outcome = await handle(roomAggregate, roomStream(roomId), timedCommand, { ...context, actor: by });
    if (isRejection(outcome)) return outcome;
    return { changed: outcome.events.length > 0, position: outcome.position };
  }

  /** Returns whether the participant was inside or waiting at that seat. Throws `UnavailableError`. */
  async function leave(
    { roomId, participantId, seat }: SeatRef,
    context: CommandContext,
    hasTimedOut = false,
  ): Promise<boolean> {
    const where = { roomId, participantId, seat: seat.id };
    const command = { type: 'LeaveRoom' as const, ...where, hasTimedOut, now: clock.now() };
    const outcome = await handle(roomAggregate, roomStream(roomId), command, {
      ...context,
      actor: participantId,
    });
    return !isRejection(outcome) && outcome.events.length > 0;
  }

  /** Records a lost connection; the participant keeps their place for a while. Throws `UnavailableError`. */
  async function reportConnectionLost(
    { roomId, participantId, seat }: SeatRef,
    context: CommandContext,
  ): Promise<void> {
    const where = { seat: seat.id };
    const command = { type: 'LoseConnection' as const, roomId, where, now: clock.now() };
    await handle(roomAggregate, roomStream(roomId), command, { ...context, actor: participantId });
  }

  /** Records that a connection marked as lost is still open on this node. Never rejects. */
  async function restoreConnection(seatRef: SeatRef, node: string, context: () => CommandContext): Promise<void> {
    const { roomId, participantId, seat } = seatRef;
    const where = { roomId, participantId, node, seat: seat.id };
    const by = () => ({ ...context(), actor: participantId });
    await untilAppended(seatRef, () =>
      handle(roomAggregate, roomStream(roomId), { type: 'ReturnToRoom', ...where, now: clock.now() }, by()),
    );
  }

  /**
   * Removes a participant after their connection closed. With `graceMs` the connection is recorded as lost first, and
   * they leave after that time unless they have reconnected. Never rejects.
   */
  async function leaveWhenDisconnected(seatRef: SeatRef, context: () => CommandContext, graceMs = 0): Promise<void> {
    if (graceMs > 0) {
      await untilAppended(seatRef, () => reportConnectionLost(seatRef, context()));
      await sleep(graceMs, signal);
    }
    await untilAppended(seatRef, () => leave(seatRef, context(), graceMs > 0));
  }

  /** Retries while the event log is unavailable, until the process stops. Never rejects. */
  async function untilAppended({ roomId: room }: SeatRef, run: () => Promise<unknown>): Promise<void> {
    while (!signal.aborted) {
      try {
        await run();
        return;
      } catch (err) {
        if (!(err instanceof UnavailableError)) {
          logger.error({ err, room }, 'could not record the state of a meeting connection');
          return;
        }
        logger.warn({ err, room }, 'could not record the state of a meeting connection; retrying');
        await sleep(RETRY_MS, signal);
      }
    }
  }

  return { execute, leave, leaveWhenDisconnected, restoreConnection };
}
