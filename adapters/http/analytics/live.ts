/** Route that streams hits live. */
import type { SiteDirectory } from '../../../application/analytics/site-directory.js';
import { parseSiteId } from '../../../domain/analytics/site-fields.js';
import { siteNotFound } from '../../../domain/analytics/sites.js';
import type { LiveHits } from '../../realtime/analytics/live-hits.js';
import { type Admit, type Route, route } from '../server/route.js';
import { type Admin, SECURITY } from './admission.js';

export interface LiveRouteDeps {
  readonly live: Pick<LiveHits, 'connect'>;
  readonly directory: SiteDirectory;
  readonly admit: Admit<Admin>;
}

export const liveRoute = ({ live, directory, admit }: LiveRouteDeps): Route =>
  route({
    method: 'GET',
    path: '/api/live',
    tags: ['Reports'],
    summary: 'Hits of the last five minutes, then live ones, as server-sent events',
    description:
      'Each is `{type: "HIT", timestamp, kind, path}`, with `event`, `referrer`, `campaign`, `browser`, `os`, `device`, ' +
      '`country` and `properties` if known, without visitor data. Past hits come from the memory of this node, so after a ' +
      'restart there may be fewer. Resume with `Last-Event-ID`; hits that were collected together are repeated together. ' +
      'Slow readers get `{type: "RESET"}` and miss some hits. The stream ends with `{type: "SITE_DELETED"}` when the site ' +
      'is deleted, and with `{type: "SIGNED_OUT"}` when the session ends.',
    security: SECURITY,
    query: {
      type: 'object',
      required: ['site'],
      properties: { site: { type: 'string', minLength: 1 }, lastEventId: { type: 'string' } },
    },
    answers: {
      200: { description: 'The stream', type: 'text/event-stream' },
      404: { description: 'Site not found' },
    },
    admit,
    async handle({ query, cursor, ifPosition }, { session }) {
      const siteId = parseSiteId(query.site);
      const site = siteId && (await directory.find([siteId], ifPosition))(siteId);
      if (!site) return siteNotFound;
      return {
        stream: (sink) => live.connect({ instance: site.instance, after: cursor, session: session }, sink),
      };
    },
  });
