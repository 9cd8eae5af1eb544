/** All events of the log service. */
import type { Catalog } from '../shared/catalog.js';
import { alertEvents } from './alert-events.js';
import { keepingSubject, type RecordsIngested } from './batch.js';
import type { BatchesErased } from './retention.js';

const instant = { type: 'integer', minimum: 0 } as const;
const count = { type: 'integer', minimum: 0 } as const;
const text = { type: 'string', minLength: 1 } as const;
const day = { type: 'string', pattern: '^\\d{8}$' } as const;
const keeping = { producerId: text, day, audit: { type: 'boolean' } } as const;

export const logs: Catalog = {
  service: 'logs',
  events: {
    ...alertEvents,
    RecordsIngested: {
      versions: [
        {
          schema: {
            type: 'object',
            required: ['producerId', 'day', 'audit', 'count', 'receivedAt', 'rejected', 'secret'],
            properties: {
              ...keeping,
              count,
              receivedAt: instant,
              rejected: count,
              source: {
                type: 'object',
                required: ['id', 'offset'],
                properties: { id: text, offset: count },
              },
              request: {
                type: 'object',
                required: ['accepted', 'rejected', 'errors'],
                properties: {
                  accepted: count,
                  rejected: count,
                  errors: {
                    type: 'array',
                    items: {
                      type: 'object',
                      required: ['line', 'error'],
                      properties: { line: count, error: text },
                    },
                  },
                },
              },
              secret: {
                type: 'object',
                anyOf: [{ required: ['lines'] }, { required: ['records'] }],
                properties: { lines: { type: 'string' }, records: { type: 'array', minItems: 1 } },
              },
            },
          },
        },
      ],
      sealed: {
        subject: (data: RecordsIngested['data']) => keepingSubject(data),
        erased: { lines: '' },
        large: true,
      },
    },
    RecordsExpired: {
      versions: [
        {
          schema: {
            type: 'object',
            required: ['before', 'auditBefore'],
            properties: { before: instant, auditBefore: instant },
          },
        },
      ],
    },
    RebuildBegun: {
      versions: [
        {
          schema: {
            type: 'object',
            required: ['id', 'startedAt'],
            properties: { id: text, startedAt: instant },
          },
        },
      ],
    },
    RebuildFinished: {
      versions: [
        {
          schema: {
            type: 'object',
            required: [
              'id',
              'startedAt',
              'finishedAt',
              'recordsInserted',
              'recordsSkipped',
              'entriesDeleted',
            ],
            properties: {
              id: text,
              startedAt: instant,
              finishedAt: instant,
              recordsInserted: count,
              recordsSkipped: count,
              entriesDeleted: count,
            },
          },
        },
      ],
    },
    BatchesErased: {
      versions: [
        { schema: { type: 'object', required: ['producerId', 'day', 'audit'], properties: keeping } },
      ],
      erases: (data: BatchesErased['data']) => keepingSubject(data),
    },
  },
};
