/** Routes of the transparency log: checkpoint, tiles and entry bundles of C2SP `tlog-tiles`, below `/audit`. */
import { type AuditPorts, cutTile, parseTilePath, publishedCheckpoint } from '../../application/audit/index.js';
import { problem } from './server/policy.js';
import type { Request, Route } from './server/route.js';

/** Path elements of a tile's index and width; three of the index are enough for 256 thousand million entries. */
const PATHS = ['/:a', '/:a/:b', '/:a/:b/:c', '/:a/:b/:c/:d'];

const IMMUTABLE = 'private, max-age=31536000, immutable';
const NOT_FOUND = problem(404, 'Not found');

export function auditRoutes({ store, witnesses }: Pick<AuditPorts, 'store' | 'witnesses'>): readonly Route[] {
  const checkpoint: Route = {
    method: 'GET',
    path: '/audit/checkpoint',
    summary: 'Newest signed checkpoint of the transparency log',
    answers: {
      200: { description: 'The checkpoint, as C2SP tlog-checkpoint', type: 'text/plain' },
      404: { description: 'There is none yet' },
    },
    async handle() {
      const head = await store.head();
      const text = head && publishedCheckpoint(head, witnesses);
      return text === undefined ? NOT_FOUND : { text };
    },
  };
  const tile = async ({ params: { level, ...elements } }: Request) => {
    const parsed = parseTilePath(['tile', level, ...Object.values(elements)].join('/'));
    if (!parsed) return NOT_FOUND;
    const bytes = await store.readTile(parsed.tile, parsed.width);
    if (!bytes) return NOT_FOUND;
    const headers = { 'Content-Type': 'application/octet-stream', 'Cache-Control': IMMUTABLE };
    return { text: cutTile(parsed.tile, bytes, parsed.width), headers };
  };
  const tiles = PATHS.map(
    (path): Route => ({
      method: 'GET',
      path: `/audit/tile/:level${path}`,
      summary: 'Hashes or entries of the transparency log',
      answers: {
        200: { description: 'A tile or an entry bundle, as C2SP tlog-tiles', type: 'application/octet-stream' },
        404: { description: 'The log has no such tile' },
      },
      handle: tile,
    }),
  );
  return [checkpoint, ...tiles];
}
