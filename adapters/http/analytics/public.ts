/** Routes without sign-in: the dashboard page, the tracker script, health, and how to sign in. */
import { readFile } from 'node:fs/promises';
import { type Route, route } from '../server/route.js';
import { etagOf, pageRoutes, readOnce, revalidated, WEB_DIRECTORY } from '../server/web-page.js';
import { AUTH } from './auth.js';
import * as schemas from './schemas.js';

export function publicRoutes(version: string): readonly Route[] {
  const tracker = readOnce(readTracker);

  const health = route({
    method: 'GET',
    path: '/health',
    tags: ['Service'],
    summary: 'Whether the service is up; for its stores see /health/ready of the operations port',
    answers: { 200: { description: 'Up', schema: schemas.healthAnswer } },
    handle: () => ({
      status: 200,
      body: { status: 'ok', service: 'analytics', version, timestamp: new Date().toISOString() },
    }),
  });

  const config = route({
    method: 'GET',
    path: '/config.json',
    tags: ['Service'],
    summary: 'How to sign in',
    answers: { 200: { description: 'Mode and sign-in routes', schema: schemas.configAnswer } },
    handle: () => ({
      status: 200,
      body: { mode: 'api', auth: { enabled: true, mode: 'magic-link', routes: AUTH } },
    }),
  });

  const page = pageRoutes(
    'analytics',
    'The dashboard. Query: `token` of a mailed link signs in; `site` and a period select the report. At ' +
      '`/share` the fragment is the token of a public link, which shows the reports of its site without sign-in, and at ' +
      '`/unsubscribe` `token` is that of a weekly mail',
    ['/', '/share', '/unsubscribe'],
  );

  const script = route({
    method: 'GET',
    path: '/m.js',
    tags: ['Collecting'],
    summary: 'The tracker script; see `snippet` of a site',
    description:
      '`data-site`: the site id. `data-endpoint`: sends to another address. `data-auto="false"`: sends views only by ' +
      '`annals.pageview()`. `data-spa="false"`: ignores History changes. `data-clicks="false"`: ignores clicks on ' +
      '`data-annals-event`. `annals.event(name, properties)` sends an event. Uses no cookies and no storage; sends ' +
      'nothing if the browser sends DNT or GPC.',
    answers: {
      200: { description: 'The script; may be cached for an hour', type: 'text/javascript' },
      304: { description: 'Not modified' },
    },
    async handle({ headers }) {
      const caching = { 'Cache-Control': 'public, max-age=3600' };
      return revalidated(headers, await tracker(), caching, { 'Content-Type': 'text/javascript; charset=utf-8' });
    },
  });

  return [health, config, ...page, script];
}

/** Rejects if the script is not built (`npm run build`). */
async function readTracker() {
  const bytes = await readFile(new URL('tracker.js', WEB_DIRECTORY));
  return { bytes, etag: etagOf(bytes) };
}
