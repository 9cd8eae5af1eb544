/** Route of the tracker script that pages of other origins load. */
import { readFile } from 'node:fs/promises';
import { etagMatches } from '../server/byte-range.js';
import { type Route, route } from '../server/route.js';
import { etagOf, readOnce, WEB_DIRECTORY } from '../server/web-page.js';

export function trackerRoute(): Route {
  const script = readOnce(read);
  return route({
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
      const { bytes, etag } = await script();
      const cacheHeaders = { ETag: etag, 'Cache-Control': 'public, max-age=3600' };
      if (etagMatches(headers['if-none-match'], etag)) return { status: 304, headers: cacheHeaders };
      return {
        status: 200,
        text: bytes,
        headers: {
          ...cacheHeaders,
          'Content-Type': 'text/javascript; charset=utf-8',
        },
      };
    },
  });
}

/** Rejects if the script is not built (`npm run build`). */
async function read() {
  const bytes = await readFile(new URL('tracker.js', WEB_DIRECTORY));
  return { bytes, etag: etagOf(bytes) };
}
