/** Routes to manage sites and to list recent collect attempts. */
import type { SiteDirectory, Sites } from '../../../application/analytics/sites.js';
import type { RecentAttempts } from '../../../application/analytics/validate-hits.js';
import { parseSiteId } from '../../../domain/analytics/site-fields.js';
import { type DataOf, isRejection } from '../../../domain/shared/index.js';
import { type Admit, type Route, route } from '../server/route.js';
import { type Admin, CROSS_ORIGIN_ANSWER, SECURITY } from './admission.js';
import * as schemas from './schemas.js';

export interface SiteRouteDeps {
  readonly sites: Sites;
  readonly directory: Pick<SiteDirectory, 'find'>;
  readonly attempts: Pick<RecentAttempts, 'list'>;
  readonly privacy: DataOf<typeof schemas.sitesAnswer>['privacy'];
  readonly admit: Admit<Admin>;
}

const NOT_FOUND = { description: 'Site not found' };
/** Fits 100 domains and 100 properties of maximum length. */
const BODY_BYTES = 128 * 1024;

export function siteRoutes({ sites, directory, attempts, privacy, admit }: SiteRouteDeps): readonly Route[] {
  const common = { security: SECURITY, tags: ['Sites'], admit } as const;

  const list = route({
    ...common,
    method: 'GET',
    path: '/api/sites',
    summary: 'All sites by name, with their snippets, and the privacy settings',
    answers: { 200: { description: 'The sites', schema: schemas.sitesAnswer } },
    async handle({ ifPosition }) {
      const { body, position } = await sites.list(ifPosition);
      return { status: 200, body: { ...body, privacy }, position };
    },
  });

  const create = route({
    ...common,
    method: 'POST',
    path: '/api/sites',
    summary: 'Create a site',
    body: schemas.createSiteBody,
    strictBody: true,
    bodyLimit: BODY_BYTES,
    answers: { 201: { description: 'The site', schema: schemas.siteAnswer }, 403: CROSS_ORIGIN_ANSWER },
    async handle({ body, context }, { actor }) {
      const result = await sites.create(body, context(actor, actor));
      return isRejection(result) ? result : { status: 201, ...result };
    },
  });

  const update = route({
    ...common,
    method: 'PUT',
    path: '/api/sites/:id',
    summary: 'Update a site; absent fields stay unchanged',
    description: 'An empty `ingestToken` removes the token. The id cannot be changed.',
    body: schemas.updateSiteBody,
    strictBody: true,
    bodyLimit: BODY_BYTES,
    answers: {
      200: { description: 'The site', schema: schemas.siteAnswer },
      403: CROSS_ORIGIN_ANSWER,
      404: NOT_FOUND,
    },
    handle: ({ params, body, context }, { actor }) => sites.update(params.id, body, context(actor, actor)),
  });

  const share = route({
    ...common,
    method: 'POST',
    path: '/api/sites/:id/share',
    summary: 'Make the public link to the reports of a site; a site has at most one',
    answers: { 200: { description: 'The site', schema: schemas.siteAnswer }, 403: CROSS_ORIGIN_ANSWER, 404: NOT_FOUND },
    handle: ({ params, context }, { actor }) => sites.share(params.id, context(actor, actor)),
  });

  const unshare = route({
    ...common,
    method: 'DELETE',
    path: '/api/sites/:id/share',
    summary: 'Revoke the public link of a site; the next one is another',
    answers: { 200: { description: 'The site', schema: schemas.siteAnswer }, 403: CROSS_ORIGIN_ANSWER, 404: NOT_FOUND },
    handle: ({ params, context }, { actor }) => sites.unshare(params.id, context(actor, actor)),
  });

  const remove = route({
    ...common,
    method: 'DELETE',
    path: '/api/sites/:id',
    summary: 'Delete a site and destroy the key of its data, which makes all copies unreadable immediately',
    answers: {
      200: { description: 'Deleted', schema: schemas.deletedAnswer },
      403: CROSS_ORIGIN_ANSWER,
      404: NOT_FOUND,
    },
    async handle({ params, context }, { actor }) {
      const result = await sites.remove(params.id, context(actor, actor));
      if (isRejection(result)) return result;
      const { id, days: rowsDeleted } = result.body;
      return { status: 200, body: { id, success: true, rowsDeleted }, position: result.position };
    },
  });

  const listAttempts = route({
    ...common,
    method: 'GET',
    path: '/api/collect-attempts',
    summary: 'Recent hits sent under a site id, newest first, and why they were ignored',
    description:
      'The last 50, kept in the memory of this node until the site is deleted. Includes unknown ids, as they may be ' +
      'misspelt. For hits with a privacy signal the page is withheld.',
    query: { type: 'object', required: ['site'], properties: { site: { type: 'string', minLength: 1 } } },
    answers: { 200: { description: 'The attempts', schema: schemas.attemptsAnswer } },
    async handle({ query: { site }, ifPosition }) {
      const siteId = parseSiteId(site) ?? site;
      const found = (await directory.find([siteId], ifPosition))(siteId);
      return { status: 200, body: { attempts: attempts.list(siteId, found?.instance) } };
    },
  });

  return [list, create, update, share, unshare, remove, listAttempts];
}
