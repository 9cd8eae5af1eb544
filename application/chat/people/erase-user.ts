/** Erases a user: appends the fact, destroys the key, tombstones the user's own streams. */

import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { userSubject } from '../../../domain/chat/events/roster.js';
import { userStream } from '../../../domain/chat/password.js';
import { presenceStream } from '../../../domain/chat/presence.js';
import { ROSTER } from '../../../domain/chat/roster.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import type { KernelPorts } from '../../command/index.js';
import type { CommandContext, Position, RecordedEvent } from '../../ports/index.js';
import type { Reaction } from '../../subscription/index.js';
import { rosterAggregate, sessionStream } from '../aggregates.js';

export type ErasingPorts = Pick<KernelPorts, 'handle' | 'clock' | 'log' | 'vault'>;

type UserErased = ChatEvent<'UserErased'>;

/** Idempotent. */
async function completeErasure({ log, vault }: ErasingPorts, userId: string): Promise<void> {
  await vault.destroy(userSubject({ userId }));
  for (const stream of [sessionStream(userId), userStream(userId), presenceStream(userId)]) await log.tombstone(stream);
}

/**
 * Erases completely, also without a running node. Removes a current user first. Idempotent. Returns the position of the
 * erasure; undefined if the user was erased before.
 */
export const createEraseUser =
  (ports: ErasingPorts) =>
  async (userId: string, context: CommandContext): Promise<{ readonly position: Position | undefined } | Rejection> => {
    const { handle, clock } = ports;
    const command = { type: 'EraseUser' as const, userId, by: context.actor, now: clock.now() };
    const outcome = await handle(rosterAggregate, ROSTER, command, context);
    if (isRejection(outcome)) return outcome;
    await completeErasure(ports, userId);
    return { position: outcome.events.length > 0 ? outcome.position : undefined };
  };

/** Completes an erasure that was interrupted. */
export const erasureReaction = (ports: ErasingPorts): Reaction<UserErased> => ({
  name: 'chat.erasure',
  retryInBackground: true,
  on: { UserErased: ({ data }: RecordedEvent<UserErased>) => completeErasure(ports, data.userId) },
});
