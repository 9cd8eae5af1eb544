/** Routes of users. */
import type { AddUser } from '../../../application/chat/people/add-user.js';
import type { Users } from '../../../application/chat/people/users.js';
import type { Authentication } from '../../../application/chat/sign-in/authenticate.js';
import type { PasswordSignIn } from '../../../application/chat/sign-in/passwords.js';
import { unknownUser } from '../../../domain/chat/roster.js';
import { isRejection } from '../../../domain/shared/index.js';
import { type Request, type Route, route } from '../server/route.js';
import { streamedList } from '../server/streamed-json.js';
import { type AuthGuards, access, contextFor, contextWithQuota } from './auth.js';
import type { ChatQuotas } from './quotas.js';
import * as schemas from './schemas.js';

export interface UsersDeps {
  readonly guards: AuthGuards;
  readonly admission: Authentication;
  readonly users: Users;
  readonly addUser: AddUser;
  readonly passwords: Pick<PasswordSignIn, 'reset'>;
  readonly quotas: Pick<ChatQuotas, 'changes'>;
}

const ADMINS_ONLY = { description: 'The caller is not an admin' };

export function usersRoutes(deps: UsersDeps): readonly Route[] {
  const { guards, admission, users, addUser, passwords, quotas } = deps;
  const [user, admin] = [access(guards.user), access(guards.admin)];
  /** The result of the first run of a command that removed its caller, who can't authenticate to repeat it. */
  async function previousResult(how: 'removed' | 'left', request: Pick<Request, 'bearer' | 'context'>) {
    const user = await admission.parseAccessToken(request.bearer);
    return user && users.findDepartureResult(how, contextFor(user, request));
  }

  // Before the routes with an id: `/users/me` and `/users/exit`.
  return [
    route({
      ...user,
      method: 'GET',
      path: '/users',
      summary: 'All users, in the order in which they joined',
      answers: { 200: { description: 'Users', schema: schemas.users } },
      async handle({ ifPosition }) {
        const { body, position } = await users.list(ifPosition);
        return streamedList('users', body.users, { position });
      },
    }),
    route({
      ...admin,
      method: 'POST',
      path: '/users/add',
      summary: 'Add a user, or an admin',
      description:
        'With a `password` they can sign in with it, in password mode. Without one an invite is sent if email is ' +
        'configured; otherwise the user has no password, which `message` explains in password mode.',
      body: schemas.addBody,
      answers: { 200: { description: 'Added', schema: schemas.addedUser }, 403: ADMINS_ONLY },
      handle: (request, caller) => addUser(request.body, caller.userId, contextFor(caller, request)),
    }),
    route({
      ...user,
      method: 'PUT',
      path: '/users/me',
      summary: 'Change the own user name',
      body: schemas.renameBody,
      answers: { 200: { description: 'Renamed', schema: schemas.me } },
      quota: quotas.changes,
      async handle(request, caller) {
        const result = await users.rename(caller.userId, request.body.userName, contextWithQuota(caller, request));
        if (isRejection(result)) return result;
        const { createdAt: _, ...user } = result.body.user;
        return { status: 200, body: { user }, position: result.position };
      },
    }),
    route({
      ...user,
      method: 'POST',
      path: '/users/exit',
      summary: 'Delete the own account',
      answers: {
        200: { description: 'Left', schema: schemas.successMessage },
        400: { description: 'The last admin cannot leave' },
      },
      previousAnswer: (request) => previousResult('left', request),
      handle: (request, caller) => users.exit(caller.userId, contextFor(caller, request)),
    }),
    route({
      ...admin,
      method: 'PUT',
      path: '/users/:id/role',
      summary: 'Change the role of a user',
      body: schemas.roleBody,
      answers: { 200: { description: 'Changed', schema: schemas.oneUser }, 403: ADMINS_ONLY },
      handle: (request, caller) =>
        users.changeRole(request.params.id, request.body.role === 'admin', caller.userId, contextFor(caller, request)),
    }),
    route({
      ...admin,
      method: 'POST',
      path: '/users/:id/reset-password',
      summary: "Set a user's password and end their sessions",
      body: schemas.resetBody,
      answers: { 200: { description: 'Set', schema: schemas.success }, 403: ADMINS_ONLY },
      async handle(request, caller) {
        const { params, body } = request;
        if (!(await admission.user({ id: params.id }))) return unknownUser;
        return passwords.reset(params.id, body.password, caller.userId, contextFor(caller, request));
      },
    }),
    route({
      ...admin,
      method: 'DELETE',
      path: '/users/:id',
      summary: 'Remove a user; their messages stay',
      answers: {
        200: { description: 'Removed', schema: schemas.success },
        400: { description: 'The last admin cannot be removed' },
        403: ADMINS_ONLY,
        404: { description: 'There is no such user' },
      },
      previousAnswer: (request) => previousResult('removed', request),
      handle: (request, caller) => users.remove(request.params.id, caller.userId, contextFor(caller, request)),
    }),
  ];
}
