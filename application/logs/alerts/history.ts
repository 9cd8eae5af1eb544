/** Lists past alerts, newest first, in pages. */
import { alertStream, type Details } from '../../../domain/logs/alert.js';
import { RULES } from '../../../domain/logs/alert-events.js';
import { badCursor } from '../../../domain/logs/record-id.js';
import type { KernelPorts } from '../../command/index.js';
import { awaitConsistent, type PositionedRow, withRows } from '../../consistency/index.js';
import type { Position } from '../../ports/index.js';

interface AlertRow extends PositionedRow {
  readonly _id: string;
  readonly rule: string;
  readonly severity: string;
  readonly state: 'active' | 'repeated' | 'resolved';
  readonly raisedAt: number;
  readonly details: Details;
  readonly resolvedAt?: number;
  readonly resolution?: string;
  readonly repeatedBy?: string;
  readonly delivery?: {
    readonly at: number;
    readonly attempts: number;
    readonly status?: number;
    readonly reason?: string;
  };
}

export interface HistoryQuery {
  readonly limit: number;
  readonly cursor?: string;
  /** Position the page must reflect. */
  readonly seen?: Position;
}

const CURSOR = /^(\d{1,16})\.([\w-]{1,64})$/;

export function createAlertHistory({ rows, projectionProgress }: Pick<KernelPorts, 'rows' | 'projectionProgress'>) {
  return async ({ limit, cursor, seen: seenByCaller }: HistoryQuery) => {
    const after = cursor === undefined ? {} : parseCursor(cursor);
    if (!after) return badCursor;
    const reflected = await awaitConsistent(projectionProgress, 'logs.alerts', {
      streams: RULES.map(alertStream),
      seenByCaller,
    });
    const found = await rows.find<AlertRow>('logs.alerts', {
      filter: after,
      sort: { raisedAt: -1, _id: -1 },
      limit: limit + 1,
    });
    const page = found.slice(0, limit);
    const hasMore = found.length > limit;
    const last = page.at(-1);
    return {
      body: {
        alerts: page.map(view),
        hasMore,
        limit,
        ...(hasMore && last ? { nextCursor: `${last.raisedAt}.${last._id}` } : {}),
      },
      ...withRows(reflected, page),
    };
  };
}

export type AlertHistory = ReturnType<typeof createAlertHistory>;

function parseCursor(cursor: string) {
  const [, at, _id] = CURSOR.exec(cursor) ?? [];
  if (at === undefined) return undefined;
  const raisedAt = Number(at);
  return { $or: [{ raisedAt: { $lt: raisedAt } }, { raisedAt, _id: { $lt: _id } }] };
}

const iso = (at: number) => new Date(at).toISOString();

const view = ({ _id, rule, severity, state, raisedAt, details, resolvedAt, delivery, ...row }: AlertRow) => ({
  id: _id,
  rule,
  severity,
  state,
  triggeredAt: iso(raisedAt),
  resolvedAt: resolvedAt === undefined ? null : iso(resolvedAt),
  ...(row.resolution ? { resolution: row.resolution } : {}),
  ...(row.repeatedBy ? { repeatedBy: row.repeatedBy } : {}),
  details,
  webhook: delivery
    ? { delivered: delivery.reason === undefined, ...delivery, at: iso(delivery.at) }
    : { delivered: false, attempts: 0 },
});
