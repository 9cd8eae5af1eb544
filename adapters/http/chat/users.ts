/** The routes of the people of the chat. */
import type { AddUser } from '../../../application/chat/people/add-user.js';
import type { Users } from '../../../application/chat/people/users.js';
import type { Authentication } from '../../../application/chat/sign-in/authenticate.js';
import type { PasswordSignIn } from '../../../application/chat/sign-in/password-sign-in.js';
import { unknownUser } from '../../../domain/chat/roster.js';
import { isRejection } from '../../../domain/shared/index.js';
import { type Request, type Route, route } from '../server/route.js';
import { streamedList } from '../server/streamed-list.js';
import { type AuthGuards, answer, contextFor, contextWithQuota } from './auth.js';
import type { ChatQuotas } from './quotas.js';
import * as schemas from './schemas.js';

export interface UsersDeps {
  readonly doors: AuthGuards;
  readonly admission: Authentication;
  readonly users: Users;
  readonly addUser: AddUser;
  readonly passwords: Pick<PasswordSignIn, 'reset'>;
  readonly quotas: Pick<ChatQuotas, 'changes'>;
}

const ADMINS_ONLY = { description: 'The caller is no admin' };

export function usersRoutes(deps: UsersDeps): readonly Route[] {
  const { doors, admission, users, addUser, passwords, quotas } = deps;
  const list = route({
    method: 'GET',
    path: '/users',
    summary: 'Everybody, in the order in which they came',
    security: 'access',
    answers: { 200: { description: 'Users', schema: schemas.users } },
    admit: doors.user,
    async handle({ ifPosition }) {
      const { body, position } = await users.list(ifPosition);
      return streamedList('users', body.users, { position });
    },
  });

  const rename = route({
    method: 'PUT',
    path: '/users/me',
    summary: 'Be called otherwise',
    security: 'access',
    body: schemas.renameBody,
    answers: { 200: { description: 'Renamed', schema: schemas.me } },
    admit: doors.user,
    quota: quotas.changes,
    async handle(request, caller) {
      const done = await users.rename(caller.userId, request.body.userName, contextWithQuota(caller, request));
      if (isRejection(done)) return done;
      const { createdAt: _, ...user } = done.body.user;
      return { status: 200, body: { user }, position: done.position };
    },
  });

  const add = route({
    method: 'POST',
    path: '/users/add',
    summary: 'Add a user, or an admin',
    description:
      'With a `password` they can sign in with it, in password mode. Without one an invite is sent where mail is ' +
      'configured; else they are there without a password, and in password mode `message` says so.',
    security: 'access',
    body: schemas.addBody,
    answers: { 200: { description: 'Added', schema: schemas.addedUser }, 403: ADMINS_ONLY },
    admit: doors.admin,
    handle: async (request, caller) => answer(await addUser(request.body, caller.userId, contextFor(caller, request))),
  });

  const resetPassword = route({
    method: 'POST',
    path: '/users/:id/reset-password',
    summary: "Set somebody's password, which ends their sessions",
    security: 'access',
    body: schemas.resetBody,
    answers: { 200: { description: 'Set', schema: schemas.success }, 403: ADMINS_ONLY },
    admit: doors.admin,
    async handle(request, caller) {
      const { params, body } = request;
      if (!(await admission.user({ id: params.id }))) return unknownUser;
      return answer(await passwords.reset(params.id, body.password, caller.userId, contextFor(caller, request)));
    },
  });

  const role = route({
    method: 'PUT',
    path: '/users/:id/role',
    summary: 'Make somebody an admin, or a user',
    security: 'access',
    body: schemas.roleBody,
    answers: { 200: { description: 'Changed', schema: schemas.oneUser }, 403: ADMINS_ONLY },
    admit: doors.admin,
    handle: async (request, caller) => {
      const { params, body } = request;
      const isAdmin = body.role === 'admin';
      return answer(await users.changeRole(params.id, isAdmin, caller.userId, contextFor(caller, request)));
    },
  });

  const remove = route({
    method: 'DELETE',
    path: '/users/:id',
    summary: 'Remove somebody; their messages stay',
    security: 'access',
    answers: {
      200: { description: 'Removed', schema: schemas.success },
      400: { description: 'The last admin stays' },
      403: ADMINS_ONLY,
      404: { description: 'There is no such user' },
    },
    admit: doors.admin,
    repeated: (request) => went('removed', request),
    handle: async (request, caller) =>
      answer(await users.remove(request.params.id, caller.userId, contextFor(caller, request))),
  });

  const exit = route({
    method: 'POST',
    path: '/users/exit',
    summary: 'Leave for good',
    security: 'access',
    answers: {
      200: { description: 'Left', schema: schemas.told },
      400: { description: 'The last admin stays' },
    },
    admit: doors.user,
    repeated: (request) => went('left', request),
    handle: async (request, caller) => answer(await users.exit(caller.userId, contextFor(caller, request))),
  });

  /** Who is gone by a command can't come with it again. */
  async function went(how: 'removed' | 'left', request: Pick<Request, 'bearer' | 'context'>) {
    const whose = await admission.parseAccessToken(request.bearer);
    const done = whose && (await users.went(how, contextFor(whose, request)));
    return done && answer(done);
  }

  // `/users/me` and `/users/exit` are no ids.
  return [list, add, rename, exit, role, resetPassword, remove];
}
