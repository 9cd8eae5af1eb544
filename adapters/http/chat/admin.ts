/** The routes of administration: the audit log, and all that there is. */
import type { Audit } from '../../../application/chat/admin/audit-log.js';
import type { Export } from '../../../application/chat/admin/export.js';
import type { Budget } from '../../../application/concurrency/index.js';
import { isRejection, object } from '../../../domain/shared/index.js';
import { encoded, inPieces } from '../server/answer.js';
import { isProblem } from '../server/problem.js';
import { type Route, route } from '../server/route.js';
import { listLimit } from '../server/validate.js';
import { type AuthGuards, contextFor } from './auth.js';
import { reauthenticate } from './page-response.js';
import { text, time } from './schemas.js';
import { streamChunks } from './stream-download.js';

export interface AdminDeps {
  readonly doors: AuthGuards;
  readonly audit: Audit;
  readonly exported: Export;
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
const exportedAll = object({
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

/**
 * The same pieces: what is said meanwhile is in them, and a slow reader may take hours. Rejects, so that their connection
 * is cut, once who reads them is not admitted any more.
 */
async function* whileAdmitted(
  admit: () => ReturnType<AuthGuards['admin']>,
  pieces: AsyncIterable<string>,
): AsyncGenerator<string> {
  for await (const piece of pieces) {
    const admitted = await admit();
    if (isProblem(admitted) || isRejection(admitted)) throw new Error('the reader is no admin any more');
    yield piece;
  }
}

export const adminRoutes = ({ doors, audit, exported, downloads }: AdminDeps): readonly Route[] => [
  route({
    method: 'GET',
    path: '/admin/audit-log',
    summary: 'What admins did, and what was done to what is others’, the newest first',
    description: 'Streamed: an entry may name all who came into a channel.',
    tags,
    security: 'access',
    query: {
      type: 'object',
      properties: {
        limit: listLimit({ initial: 100, max: 1000 }),
        before: { type: 'string', maxLength: 64, description: 'Id of an entry: those just before it' },
        action: { type: 'string', maxLength: 64, description: 'Only of this action' },
      },
    },
    answers: {
      200: { description: 'Entries', schema: object({ entries: { type: 'array', items: auditEntry } }) },
      400: { description: '`before` is no entry' },
      403: { description: 'The caller is no admin' },
    },
    admit: doors.admin,
    async handle(request, { userId }) {
      const found = await audit.list(request.query, request.ifPosition);
      if (isRejection(found)) return found;
      const still = await reauthenticate({ request, doors: { user: doors.admin } }, found.position);
      if (isProblem(still) || isRejection(still)) return still;
      const pieces = () => whileAdmitted(() => doors.admin(request), found.pieces());
      return streamChunks(request, { ...found, pieces }, downloads, userId);
    },
  }),
  route({
    method: 'GET',
    path: '/admin/export',
    summary: 'All that there is, direct messages included',
    description: 'Streamed. No token, and no password in any form, is in it. It is itself noted in the audit log.',
    tags,
    security: 'access',
    answers: {
      200: { description: 'Everything', schema: exportedAll },
      403: { description: 'The caller is no admin' },
    },
    admit: doors.admin,
    async handle(request, caller) {
      const { position, isPending, pieces } = await exported(caller.userId, contextFor(caller, request));
      const more = { 'Content-Disposition': 'attachment; filename="export.json"' };
      const admitted = () => whileAdmitted(() => doors.admin(request), pieces());
      const reply = { ...inPieces(() => encoded(admitted()), more), position };
      return isPending ? { ...reply, consistency: 'pending' as const } : reply;
    },
  }),
];
