/** The routes of the people of the chat. */
import type { ChatAdmission } from '../../../application/chat/admission.js';
import type { Users } from '../../../application/chat/users.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { type Request, type Route, route } from '../kernel/route.js';
import { answer, by, type Doors } from './admit.js';
import * as schemas from './schemas.js';

export interface UsersDeps {
  readonly doors: Doors;
  readonly admission: ChatAdmission;
  readonly users: Users;
}

const ADMINS_ONLY = { description: 'The caller is no admin' };

export function usersRoutes({ doors, admission, users }: UsersDeps): readonly Route[] {
  const list = route({
    method: 'GET',
    path: '/users',
    summary: 'Everybody, in the order in which they came',
    security: 'access',
    answers: { 200: { description: 'Users', schema: schemas.users } },
    admit: doors.user,
    handle: async ({ ifPosition }) => answer(await users.list(ifPosition)),
  });

  const rename = route({
    method: 'PUT',
    path: '/users/me',
    summary: 'Be called otherwise',
    security: 'access',
    body: schemas.renameBody,
    answers: { 200: { description: 'Renamed', schema: schemas.me } },
    admit: doors.user,
    async handle(request, caller) {
      const done = await users.rename(caller.userId, request.body.userName, by(caller, request));
      if (isRejection(done)) return done;
      const { createdAt: _, ...user } = done.body.user;
      return { status: 200, body: { user }, position: done.position };
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
      return answer(await users.changeRole(params.id, isAdmin, caller.userId, by(caller, request)));
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
      answer(await users.remove(request.params.id, caller.userId, by(caller, request))),
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
    handle: async (request, caller) => answer(await users.exit(caller.userId, by(caller, request))),
  });

  /** Who is gone by a command can't come with it again. */
  async function went(how: 'removed' | 'left', request: Pick<Request, 'bearer' | 'context'>) {
    const whose = await admission.bearer(request.bearer);
    const done = whose && (await users.went(how, by(whose, request)));
    return done && answer(done);
  }

  // `/users/me` and `/users/exit` are no ids.
  return [list, rename, exit, role, remove];
}
