/** The routes of sites: which there are, and what was tried at them lately. */
import type { RecentAttempts } from '../../../application/analytics/recent-attempts.js';
import type { SiteDirectory } from '../../../application/analytics/site-directory.js';
import type { Sites } from '../../../application/analytics/sites.js';
import { siteIdOf } from '../../../domain/analytics/site-fields.js';
import { isRejection } from '../../../domain/shared/index.js';
import { type Admit, type Route, route } from '../server/route.js';
import { type Admin, CROSS_ORIGIN_ANSWER, SECURITY } from './admission.js';
import * as schemas from './schemas.js';

/** The settings by which privacy is kept, as people are shown them. */
export interface Privacy {
  readonly honorDoNotTrack: boolean;
  readonly filterBots: boolean;
  readonly countries: boolean;
  readonly retentionDays: number;
  readonly storeRaw: boolean;
  readonly rawRetentionHours: number;
}

export interface SiteRouteDeps {
  readonly sites: Sites;
  readonly directory: Pick<SiteDirectory, 'find'>;
  readonly attempts: Pick<RecentAttempts, 'list'>;
  readonly privacy: Privacy;
  readonly admit: Admit<Admin>;
}

const NOT_FOUND = { description: 'There is no such site' };
/** A hundred domains and a hundred properties, at their longest. */
const BODY_BYTES = 128 * 1024;

export function siteRoutes({ sites, directory, attempts, privacy, admit }: SiteRouteDeps): readonly Route[] {
  const common = { security: SECURITY, tags: ['Sites'], admit } as const;

  const list = route({
    ...common,
    method: 'GET',
    path: '/api/sites',
    summary: 'All sites by name, with their script snippets, and the privacy settings that apply',
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
    summary: 'Make a site',
    body: schemas.createSiteBody,
    strictBody: true,
    bodyLimit: BODY_BYTES,
    answers: { 201: { description: 'The site', schema: schemas.siteAnswer }, 403: CROSS_ORIGIN_ANSWER },
    async handle({ body, context }, { actor }) {
      const done = await sites.create(body, context(actor, actor));
      return isRejection(done) ? done : { status: 201, ...done };
    },
  });

  const update = route({
    ...common,
    method: 'PUT',
    path: '/api/sites/:id',
    summary: 'Change a site: what is not given stays',
    description: 'An `ingestToken` that is empty clears the one there is. The id can not be changed.',
    body: schemas.updateSiteBody,
    strictBody: true,
    bodyLimit: BODY_BYTES,
    answers: {
      200: { description: 'The site', schema: schemas.siteAnswer },
      403: CROSS_ORIGIN_ANSWER,
      404: NOT_FOUND,
    },
    async handle({ params, body, context }, { actor }) {
      const done = await sites.update(params.id, body, context(actor, actor));
      return isRejection(done) ? done : { status: 200, ...done };
    },
  });

  const remove = route({
    ...common,
    method: 'DELETE',
    path: '/api/sites/:id',
    summary: 'Delete a site, and make all that was counted of it unreadable at once, wherever it lies',
    answers: {
      200: { description: 'Gone', schema: schemas.deletedAnswer },
      403: CROSS_ORIGIN_ANSWER,
      404: NOT_FOUND,
    },
    async handle({ params, context }, { actor }) {
      const done = await sites.remove(params.id, context(actor, actor));
      if (isRejection(done)) return done;
      const { id, days: rowsDeleted } = done.body;
      return { status: 200, body: { id, success: true, rowsDeleted }, position: done.position };
    },
  });

  const tried = route({
    ...common,
    method: 'GET',
    path: '/api/collect-attempts',
    summary: 'What was sent lately under the id of a site, newest first, and why it was ignored',
    description:
      'The last 50, in the memory of this node only; they go with their site. Also of ids that no site has: they may be ' +
      'misspelt. Of who sent a privacy signal it tells nothing of where they were.',
    query: { type: 'object', required: ['site'], properties: { site: { type: 'string', minLength: 1 } } },
    answers: { 200: { description: 'The attempts', schema: schemas.attemptsAnswer } },
    async handle({ query: { site }, ifPosition }) {
      const siteId = siteIdOf(site) ?? site;
      const found = (await directory.find([siteId], ifPosition))(siteId);
      return { status: 200, body: { attempts: attempts.list(siteId, found?.instance) } };
    },
  });

  return [list, create, update, remove, tried];
}
