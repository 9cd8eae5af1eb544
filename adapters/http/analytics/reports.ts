/** Routes of reports, live hits and the retention cleanup. */
import type { Cleanup } from '../../../application/analytics/expire-days.js';
import type { Reports } from '../../../application/analytics/report.js';
import type { SiteDirectory, Sites } from '../../../application/analytics/sites.js';
import type { Position } from '../../../application/ports/index.js';
import { DEFAULT_ITEMS, MAX_ITEMS } from '../../../domain/analytics/report.js';
import { parseSiteId } from '../../../domain/analytics/site-fields.js';
import { siteNotFound } from '../../../domain/analytics/sites.js';
import { type DataOf, isRejection, object, rejection } from '../../../domain/shared/index.js';
import type { LiveHits } from '../../realtime/analytics/live-hits.js';
import type { RateLimit } from '../server/client-network.js';
import { type Admit, type Route, route } from '../server/route.js';
import { type Admin, CROSS_ORIGIN_ANSWER, SECURITY } from './admission.js';
import { tooManyRequests } from './policy.js';
import { cleanupAnswer, reportAnswer, sharedReportAnswer } from './schemas.js';

export interface ReportRouteDeps {
  readonly reports: Reports;
  readonly live: Pick<LiveHits, 'connect'>;
  readonly directory: SiteDirectory;
  readonly cleanup: Cleanup;
  readonly findShared: Sites['findShared'];
  readonly sharedPerNetwork: RateLimit;
  readonly admit: Admit<Admin>;
}

const site = { type: 'string', minLength: 1 } as const;
const day = { type: 'string', description: 'UTC day such as `2026-11-22`, inclusive' } as const;

const reportQuery = {
  days: { type: 'integer', minimum: 1, default: 30, description: 'Values above 730 are treated as 730' },
  start: day,
  end: day,
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_ITEMS,
    default: DEFAULT_ITEMS,
    description: 'Items per list; `trends` are of the first ten',
  },
  filters: {
    type: 'string',
    maxLength: 4096,
    description:
      'JSON object of values by list, such as `{"pages":"/pricing","browsers":"Firefox"}`: counts only hits with all ' +
      'of these values. A campaign is an array of source, medium and campaign.',
  },
} as const;
const sharedQuery = object({}, reportQuery);

/** The same for unknown links, so that the answer does not reveal which sites exist. */
const linkNotFound = rejection('analytics/link-not-found', 'not-found', 'This link does not exist or was revoked');

export function reportRoutes(deps: ReportRouteDeps): readonly Route[] {
  const { reports, live, directory, cleanup, admit, findShared, sharedPerNetwork } = deps;
  const common = { security: SECURITY, tags: ['Reports'], admit } as const;

  const reportOf = (
    siteId: string,
    { days, start, end, limit, filters }: DataOf<typeof sharedQuery>,
    seenByCaller: Position | undefined,
  ) =>
    reports(siteId, start === undefined && end === undefined ? { days: days! } : { start, end }, {
      limit,
      filters,
      seenByCaller,
    });

  const report = route({
    ...common,
    method: 'GET',
    path: '/api/report',
    summary: 'Report of a site for a period, compared with the previous one',
    description:
      'The last `days` UTC days including today, or `start` to `end`. Uniques of a period are the sum of its days. ' +
      'Pages count page views, entry pages those with no referrer of the own domains, events count by name, other ' +
      'lists count both. The list of a day keeps its 1000 most frequent values (fewer if they exceed 98304 ' +
      'characters together), each with the hits counted since it entered the list; all other hits count as ' +
      '`(other)`, the last item. Page views without a referrer, or from the own domains, count as `(direct)`; ' +
      'unrecognized user agents as `(unknown)`. `hours` is there for a single day. With `filters`, the report is ' +
      'built from the 1000 most frequent combinations of values of each day; `unlisted` counts the hits in others. ' +
      'What is not kept by combination is named in `notKept`, and null or empty. Pages then count the events that ' +
      'are filtered by.',
    query: object({ site }, reportQuery),
    answers: {
      200: { description: 'The report', schema: reportAnswer },
      404: { description: 'Site not found' },
    },
    handle: ({ query: { site, ...query }, ifPosition }) => reportOf(site, query, ifPosition),
  });

  const sharedReport = route({
    method: 'GET',
    path: '/api/shared/report',
    tags: ['Reports'],
    summary: 'Report of the site of a public link; see `/api/report`',
    description: 'The token is the fragment of `shareUrl`. A network may read 120 of them per minute, 60 at once.',
    security: 'share',
    query: sharedQuery,
    answers: {
      200: { description: 'The report, with the name of the site', schema: sharedReportAnswer },
      404: { description: 'The link does not exist or was revoked' },
    },
    async handle({ bearer = '', address, query, ifPosition }) {
      const retryAfterMs = await sharedPerNetwork.spend(address);
      if (retryAfterMs !== undefined) return tooManyRequests(retryAfterMs);
      const shared = await findShared(bearer);
      if (!shared) return linkNotFound;
      const report = await reportOf(shared.siteId, query, ifPosition);
      return isRejection(report) ? report : { ...report, body: { ...report.body, name: shared.name } };
    },
  });

  const liveHits = route({
    ...common,
    method: 'GET',
    path: '/api/live',
    summary: 'Hits of the last five minutes, then live ones, as server-sent events',
    description:
      'Each is `{type: "HIT", timestamp, kind, path}`, with `event`, `referrer`, `campaign`, `browser`, `os`, `device`, ' +
      '`country` and `properties` if known, without visitor data. Past hits come from the memory of this node, so after a ' +
      'restart there may be fewer. Resume with `Last-Event-ID`; hits that were collected together are repeated together. ' +
      'Slow readers get `{type: "RESET"}` and miss some hits. The stream ends with `{type: "SITE_DELETED"}` when the site ' +
      'is deleted, and with `{type: "SIGNED_OUT"}` when the session ends.',
    query: object({ site }, { lastEventId: { type: 'string' } }),
    answers: {
      200: { description: 'The stream', type: 'text/event-stream' },
      404: { description: 'Site not found' },
    },
    async handle({ query, cursor, ifPosition }, { session }) {
      const siteId = parseSiteId(query.site);
      const site = siteId && (await directory.find([siteId], ifPosition))(siteId);
      if (!site) return siteNotFound;
      return {
        stream: (sink) => live.connect({ instance: site.instance, after: cursor, session }, sink),
      };
    },
  });

  const runCleanup = route({
    ...common,
    method: 'POST',
    path: '/api/cleanup',
    summary: 'Delete data older than `analytics.retentionDays`; also runs automatically',
    description:
      'Deleted data does not come back by a rebuild or a longer retention. Raw records, which exist only with ' +
      '`analytics.storeRaw`, are deleted after `analytics.rawRetentionHours`.',
    // No members are required, but a body must be JSON.
    body: { type: 'object', properties: {} },
    answers: { 200: { description: 'What was deleted', schema: cleanupAnswer }, 403: CROSS_ORIGIN_ANSWER },
    async handle({ context }, { actor }) {
      const result = await cleanup(context(actor, actor));
      if (isRejection(result)) return result;
      const body = {
        aggregateCutoffDate: result.before,
        aggregateRowsDeleted: result.rows,
        rawCutoffTimestamp: new Date(result.raw.before).toISOString(),
        rawRowsDeleted: result.raw.rows,
      };
      return { status: 200, body, position: result.position };
    },
  });

  return [report, sharedReport, liveHits, runCleanup];
}
