/** Who may call a route of the chat: whoever is signed in, or admins only. */
import type { Authentication, Caller } from '../../../application/chat/sign-in/authenticate.js';
import type { CommandResult } from '../../../application/chat/sign-in/sessions.js';
import type { CommandContext } from '../../../application/ports/index.js';
import { notAdmin } from '../../../domain/chat/roster.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import type { Answer } from '../server/answer.js';
import type { Admit, Request } from '../server/route.js';

type Asked = Pick<Request, 'bearer' | 'ifPosition'>;

export interface AuthGuards {
  readonly user: Admit<Caller, Asked>;
  readonly admin: Admit<Caller, Asked>;
}

export const createDoors = (admission: Authentication): AuthGuards => {
  const user = ({ bearer, ifPosition }: Asked) => admission.authenticate(bearer, ifPosition);
  return {
    user,
    async admin(request) {
      const caller = await user(request);
      return isRejection(caller) || caller.isAdmin ? caller : notAdmin;
    },
  };
};

/** A command of somebody who is signed in: their keys are theirs, whatever session they come with. */
export const contextFor = ({ userId }: Pick<Caller, 'userId'>, { context }: Pick<Request, 'context'>): CommandContext =>
  context(userId, userId);

/** The same where it counts towards a quota of each user: admins have none. */
export function contextWithQuota(
  caller: Pick<Caller, 'userId' | 'isAdmin'>,
  request: Pick<Request, 'context'>,
): CommandContext {
  const { quota, ...free } = contextFor(caller, request);
  return quota && !caller.isAdmin ? { ...free, quota } : free;
}

/**
 * A command of somebody whom nobody knows yet. `shown`: what they come with beside the body; who come from one address
 * with other tokens are others, whatever their keys.
 */
export const anonymousContext = (
  { context, address, bearer }: Pick<Request, 'context' | 'address' | 'bearer'>,
  shown = bearer ?? '',
): CommandContext => context('chat.guest', `${address} ${shown}`);

export const answer = (done: CommandResult<unknown> | Rejection): Answer =>
  isRejection(done) ? done : { status: 200, ...done };
