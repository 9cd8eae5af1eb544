/** Route of the dashboard page; its data requires sign-in. */
import { type Route, route } from '../server/route.js';
import { createWebPage } from '../server/web-page.js';

export function dashboardRoutes(): readonly Route[] {
  const page = createWebPage('analytics');
  const document = route({
    method: 'GET',
    path: '/',
    tags: ['Page'],
    summary: 'The dashboard. Query: `token` of a mailed link signs in; `site` and a period select the report',
    answers: {
      200: { description: 'The page', type: 'text/html' },
      304: { description: 'Not modified' },
    },
    handle: (request) => page.document(request),
  });
  return [document, page.parts];
}
