/** The dashboard, which whoever opens the service in a browser is shown; what it shows then is for who signs in. */
import { type Route, route } from '../server/route.js';
import { createWebPage } from '../server/web-page.js';

export function dashboardRoutes(): readonly Route[] {
  const page = createWebPage('analytics');
  const document = route({
    method: 'GET',
    path: '/',
    tags: ['Page'],
    summary: 'The dashboard; `token` of a link that was mailed signs in, and `site` and a period say what is shown',
    answers: {
      200: { description: 'The page', type: 'text/html' },
      304: { description: 'It is the same still' },
    },
    handle: (request) => page.document(request),
  });
  return [document, page.parts];
}
