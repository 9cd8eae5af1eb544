/** The routes of administration: the audit log. */
import type { Audit } from '../../../application/chat/audit.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { object } from '../../../domain/shared/schema.js';
import { type Route, route } from '../kernel/route.js';
import { listLimit } from '../kernel/validate.js';
import type { Doors } from './admit.js';
import { text, time } from './schemas.js';

export interface AdminDeps {
  readonly doors: Doors;
  readonly audit: Audit;
}

export const auditEntry = object({
  id: text,
  action: { type: 'string', description: '`<target>.<verb>`' },
  actorId: text,
  targetType: text,
  targetId: text,
  createdAt: time,
  metadata: { type: 'object' },
});

const tags = ['administration'];

export const adminRoutes = ({ doors, audit }: AdminDeps): readonly Route[] => [
  route({
    method: 'GET',
    path: '/admin/audit-log',
    summary: 'What admins did, and what was done to what is others’, the newest first',
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
    async handle({ query, ifPosition }) {
      const found = await audit.list(query, ifPosition);
      return isRejection(found) ? found : { status: 200, ...found };
    },
  }),
];
