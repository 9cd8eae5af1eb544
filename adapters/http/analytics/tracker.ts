/** The route of the tracker: what pages of other origins load to tell of their views. */
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
    summary: 'The script that pages load to be counted, as the `snippet` of a site says',
    description:
      '`data-site` is the id of the site. `data-endpoint`: another address to send to. `data-auto="false"`: no views ' +
      'but those of `annals.pageview()`. `data-spa="false"`: changes of History are no views. `data-clicks="false"`: ' +
      'clicks on `data-annals-event` are no events. `annals.event(name, properties)` sends one. No cookies, no storage; ' +
      'nothing is sent for who asks with DNT or GPC not to be tracked.',
    answers: {
      200: { description: 'The script, which may be kept for an hour', type: 'text/javascript' },
      304: { description: 'It is the same still' },
    },
    async handle({ headers }) {
      const { bytes, etag } = await script();
      const same = { ETag: etag, 'Cache-Control': 'public, max-age=3600' };
      if (etagMatches(headers['if-none-match'], etag)) return { status: 304, headers: same };
      return {
        status: 200,
        text: bytes,
        headers: {
          ...same,
          'Content-Type': 'text/javascript; charset=utf-8',
        },
      };
    },
  });
}

/** Rejects where it is not built: `npm run build` does. */
async function read() {
  const bytes = await readFile(new URL('tracker.js', WEB_DIRECTORY));
  return { bytes, etag: etagOf(bytes) };
}
