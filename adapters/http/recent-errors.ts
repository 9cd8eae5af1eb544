/** Route of the operations port that lists the last warnings and errors of this process. */
import type { RecentErrors } from '../platform/observability/recent-errors.js';
import type { Route } from './server/route.js';

const text = { type: 'string' } as const;

const recentError = {
  type: 'object',
  required: ['time', 'level', 'message'],
  properties: {
    time: { type: 'string', format: 'date-time' },
    level: { type: 'string', enum: ['warn', 'error'] },
    message: text,
    error: { ...text, description: 'Message of the error that the line reports' },
  },
} as const;

export const recentErrorsRoute = ({ list }: Pick<RecentErrors, 'list'>): Route => ({
  method: 'GET',
  path: '/errors',
  summary: 'The last 100 warnings and errors this process has logged, the newest first',
  answers: {
    200: {
      description: 'Warnings and errors since the start of the process',
      schema: {
        type: 'object',
        required: ['errors'],
        properties: { errors: { type: 'array', items: recentError } },
      },
    },
  },
  handle: () => ({ status: 200, body: { errors: list() } }),
});
