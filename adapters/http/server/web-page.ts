/** A page of `web/` as it was built: a document that is asked for anew each time, and parts that may be kept for ever. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Reply } from './answer.js';
import { isKnown } from './byte-range.js';
import { problem } from './problem.js';
import { type Request, type Route, route } from './route.js';

export const BUILT = new URL('../../../web/', import.meta.url);
const DOCUMENT = 'index.html';

const TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Everything comes from the page's own origin, and nobody else may show it inside a page of theirs. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

export interface WebPage {
  /** For the route of the page's address, whatever else is answered there. */
  document(request: Pick<Request, 'headers'>): Promise<Reply>;
  readonly parts: Route;
}

/** Whether who asks is somebody who reads pages: browsers name HTML among what they accept, programs do not. */
export const wantsPage = ({ headers }: Pick<Request, 'headers'>): boolean =>
  /\btext\/html\b/.test(headers.accept ?? '');

/** What is read at the first need and kept; where that fails, the next who needs it has it read anew. */
export function readOnce<Read>(read: () => Promise<Read>): () => Promise<Read> {
  let reading: Promise<Read> | undefined;
  return () => {
    reading ??= read().catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
}

/** `name` is a folder of `web/`. */
export function createWebPage(name: string): WebPage {
  const files = readOnce(() => readPage(new URL(`${name}/`, BUILT)));
  return {
    async document({ headers }) {
      const { bytes, etag } = (await files()).get(DOCUMENT)!;
      const same = { ETag: etag, 'Cache-Control': 'no-cache', Vary: 'Accept' };
      if (isKnown(headers['if-none-match'], etag)) return { status: 304, headers: same };
      return {
        status: 200,
        text: bytes,
        headers: {
          ...same,
          'Content-Type': TYPES['.html']!,
          'Content-Security-Policy': POLICY,
          'X-Content-Type-Options': 'nosniff',
        },
      };
    },
    parts: route({
      method: 'GET',
      path: '/assets/:part',
      summary: 'A part of the page, named by its content',
      tags: ['Page'],
      answers: { 200: { description: 'The part' }, 404: { description: 'The page has no such part' } },
      async handle({ params: { part } }) {
        const found = part === DOCUMENT ? undefined : (await files()).get(part);
        if (!found) return problem(404, 'Not found');
        return {
          status: 200,
          text: found.bytes,
          headers: {
            'Content-Type': TYPES[extname(part)]!,
            'Cache-Control': 'public, max-age=31536000, immutable',
            'X-Content-Type-Options': 'nosniff',
          },
        };
      },
    }),
  };
}

/** Rejects where the pages are not built: `npm run build` does. */
async function readPage(folder: URL) {
  const names = await readdir(folder);
  const files = names.map(async (name) => {
    const bytes = await readFile(new URL(name, folder));
    return [name, { bytes, etag: etagOf(bytes) }] as const;
  });
  return new Map(await Promise.all(files));
}

export const etagOf = (bytes: Uint8Array): string =>
  `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
