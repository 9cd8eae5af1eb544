/** The routes of administration: the audit log, and all that there is. */

import type { FindStateAt } from '../../../application/audit/index.js';
import type { Audit } from '../../../application/chat/admin/audit-log.js';
import type { Export } from '../../../application/chat/admin/export.js';
import type { Caller } from '../../../application/chat/sign-in/authenticate.js';
import type { Budget } from '../../../application/concurrency/index.js';
import { isRejection, object } from '../../../domain/shared/index.js';
import { sendJsonStream } from '../server/download.js';
import { type Route, route } from '../server/route.js';
import { stateAtRoute } from '../server/state-at-route.js';
import { streamedJson } from '../server/streamed-json.js';
import { listLimit } from '../server/validate.js';
import { type AuthGuards, access, contextFor, reauthenticate } from './auth.js';
import { text, time } from './schemas.js';

export interface AdminDeps {
  readonly guards: AuthGuards;
  readonly audit: Audit;
  readonly exportData: Export;
  readonly stateAt: FindStateAt;
  readonly downloads: Budget;
}

const auditEntry = object({
  id: text,
  action: { type: 'string', description: '`<target>.<verb>`' },
  actorId: text,
  targetType: text,
  targetId: text,
  createdAt: time,
  metadata: { type: 'object' },
});

const objects = { type: 'array', items: { type: 'object' } } as const;
const exportSchema = object({
  exportedAt: time,
  users: objects,
  channels: objects,
  messages: objects,
  conversations: objects,
  serverSettings: object({ name: text }),
  webhooks: objects,
  auditLog: { type: 'array', items: auditEntry },
});

const tags = ['administration'];

/** Closes the connection when the reader is no longer an admin, as reading may take hours. */
async function* whileAdmin(
  admit: () => ReturnType<AuthGuards['admin']>,
  pieces: AsyncIterable<string>,
): AsyncGenerator<string> {
  for await (const piece of pieces) {
    const caller = await admit();
    if (isRejection(caller)) throw new Error('the reader is no longer an admin');
    yield piece;
  }
}

export const adminRoutes = ({ guards, audit, exportData, stateAt, downloads }: AdminDeps): readonly Route[] => [
  route({
    ...access(guards.admin, tags),
    method: 'GET',
    path: '/admin/audit-log',
    summary: 'Actions of admins, and actions on data of others, newest first',
    description: 'Streamed, as entries may list all new members of a channel.',
    query: object(
      {},
      {
        limit: listLimit({ initial: 100, max: 1000 }),
        before: { type: 'string', maxLength: 64, description: 'Id of an entry: returns those before it' },
        action: { type: 'string', maxLength: 64, description: 'Only entries of this action' },
      },
    ),
    answers: {
      200: { description: 'Entries', schema: object({ entries: { type: 'array', items: auditEntry } }) },
      400: { description: '`before` is not an entry' },
      403: { description: 'The caller is not an admin' },
    },
    async handle(request, { userId }) {
      const list = await audit.list(request.query, request.ifPosition);
      if (isRejection(list)) return list;
      const caller = await reauthenticate({ request, guards: { user: guards.admin } }, list.position);
      if (isRejection(caller)) return caller;
      const pieces = () => whileAdmin(() => guards.admin(request), list.pieces());
      return sendJsonStream(request, { ...list, pieces }, downloads, userId);
    },
  }),
  route({
    ...access(guards.admin, tags),
    method: 'GET',
    path: '/admin/export',
    summary: 'Export all data, including direct messages',
    description: 'Streamed. Contains no tokens and no passwords in any form. The export is recorded in the audit log.',
    answers: {
      200: { description: 'Everything', schema: exportSchema },
      403: { description: 'The caller is not an admin' },
    },
    async handle(request, caller) {
      const { position, isPending, pieces } = await exportData(caller.userId, contextFor(caller, request));
      const headers = { 'Content-Disposition': 'attachment; filename="export.json"' };
      const content = () => whileAdmin(() => guards.admin(request), pieces());
      const reply = { ...streamedJson(content, headers), position };
      return isPending ? { ...reply, consistency: 'pending' as const } : reply;
    },
  }),
  stateAtRoute<Caller>({
    ...access(guards.admin, tags),
    path: '/admin/at',
    things: '`message:<id>` (of direct messages only your own), `channel:<id>` or `user:<id>`',
    stateAt,
    viewerOf: ({ userId }) => userId,
  }),
];
