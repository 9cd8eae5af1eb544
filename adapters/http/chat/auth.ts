/** Guards of chat routes (signed-in users, admins) and contexts of their commands. */
import type { Authentication, Caller } from '../../../application/chat/sign-in/authenticate.js';
import type { CommandContext } from '../../../application/ports/index.js';
import { notAdmin } from '../../../domain/chat/roster.js';
import { isRejection } from '../../../domain/shared/index.js';
import type { Admit, Request } from '../server/route.js';

type AuthRequest = Pick<Request, 'bearer' | 'ifPosition'>;

export interface AuthGuards {
  readonly user: Admit<Caller, AuthRequest>;
  readonly admin: Admit<Caller, AuthRequest>;
}

export const createAuthGuards = (authentication: Authentication): AuthGuards => {
  const user = ({ bearer, ifPosition }: AuthRequest) => authentication.authenticate(bearer, ifPosition);
  return {
    user,
    async admin(request) {
      const caller = await user(request);
      return isRejection(caller) || caller.isAdmin ? caller : notAdmin;
    },
  };
};

/** Members of routes that need the access token. */
export const access = (admit: AuthGuards['user'], tags?: readonly string[]) =>
  ({ tags, security: 'access', admit }) as const;

/** Context of a signed-in user's command. Idempotency keys belong to the user, not to the session. */
export const contextFor = ({ userId }: Pick<Caller, 'userId'>, { context }: Pick<Request, 'context'>): CommandContext =>
  context(userId, userId);

/** The same for commands with a quota per user, which does not apply to admins. */
export function contextWithQuota(
  caller: Pick<Caller, 'userId' | 'isAdmin'>,
  request: Pick<Request, 'context'>,
): CommandContext {
  const { quota, ...unlimited } = contextFor(caller, request);
  return quota && !caller.isAdmin ? { ...unlimited, quota } : unlimited;
}

/** Context of a command before sign-in. Idempotency keys of one address with different credentials do not collide. */
export const anonymousContext = (
  { context, address, bearer }: Pick<Request, 'context' | 'address' | 'bearer'>,
  credential = bearer ?? '',
): CommandContext => context('chat.guest', `${address} ${credential}`);
