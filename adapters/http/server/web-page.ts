/** Serves a built page of `web/`: a document that is revalidated, and assets that are cached forever. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { acceptsEncoding } from './accept-encoding.js';
import type { Reply } from './answer.js';
import { etagMatches } from './byte-range.js';
import { problem } from './policy.js';
import { type Request, type Route, route } from './route.js';

export const WEB_DIRECTORY = new URL('../../../web/', import.meta.url);
const DOCUMENT = 'index.html';

const TYPES: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Everything is loaded from the page's own origin, and other pages cannot embed it. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/** Encodings in which the build writes assets too, with the endings of their files; the smallest first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

export type WebPage = ReturnType<typeof createWebPage>;

/** Whether the client is a browser: only browsers accept HTML explicitly. */
export const acceptsHtml = ({ headers }: Pick<Request, 'headers'>): boolean =>
  /\btext\/html\b/.test(headers.accept ?? '');

/** Caches the result of the first successful read; failed reads are retried on the next call. */
export function readOnce<Content>(read: () => Promise<Content>): () => Promise<Content> {
  let reading: Promise<Content> | undefined;
  return () => {
    reading ??= read().catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    return reading;
  };
}

export function createWebPage(name: string) {
  const files = readOnce(() => readPage(new URL(`${name}/`, WEB_DIRECTORY)));
  return {
    /** For the route of the page, which may also answer other formats. */
    async document({ headers }: Pick<Request, 'headers'>) {
      const document = (await files()).get(DOCUMENT)!;
      const caching = { 'Cache-Control': 'no-cache', Vary: 'Accept, Origin' };
      return revalidated(headers, document, caching, {
        'Content-Type': TYPES['.html']!,
        'Content-Security-Policy': POLICY,
        'X-Content-Type-Options': 'nosniff',
      });
    },
    parts: route({
      method: 'GET',
      path: '/assets/:part',
      summary: 'An asset of the page, named by its content hash',
      tags: ['Page'],
      answers: { 200: { description: 'The asset' }, 404: { description: 'There is no such asset' } },
      async handle({ params: { part }, headers }) {
        const all = await files();
        const [type, asset] = [TYPES[extname(part)], part === DOCUMENT ? undefined : all.get(part)];
        if (!type || !asset) return problem(404, 'Not found');
        const [encoding, ending] =
          ENCODINGS.find(([name, each]) => acceptsEncoding(headers, name) && all.has(part + each)) ?? [];
        return {
          status: 200,
          text: ending === undefined ? asset.bytes : all.get(part + ending)!.bytes,
          headers: {
            'Content-Type': type,
            'Cache-Control': 'public, max-age=31536000, immutable',
            'X-Content-Type-Options': 'nosniff',
            Vary: 'Accept-Encoding, Origin',
            ...(encoding && { 'Content-Encoding': encoding }),
          },
        };
      },
    }),
  };
}

/** The page at each path, which its own script distinguishes, and its assets. */
export function pageRoutes(name: string, summary: string, paths: readonly string[] = ['/']): readonly Route[] {
  const page = createWebPage(name);
  const documents = paths.map((path) =>
    route({
      method: 'GET',
      path,
      tags: ['Page'],
      summary,
      answers: {
        200: { description: 'The page', type: 'text/html' },
        304: { description: 'Not modified' },
      },
      handle: (request) => page.document(request),
    }),
  );
  return [...documents, page.parts];
}

/** Rejects if the pages are not built (`npm run build`). */
async function readPage(folder: URL) {
  const names = await readdir(folder);
  const files = names.map(async (name) => {
    const bytes = await readFile(new URL(name, folder));
    return [name, { bytes, etag: etagOf(bytes) }] as const;
  });
  return new Map(await Promise.all(files));
}

/** Responds with a file, or 304 if the client has it. */
export function revalidated(
  request: Request['headers'],
  { bytes, etag }: { readonly bytes: Uint8Array; readonly etag: string },
  caching: { readonly [name: string]: string },
  headers: { readonly [name: string]: string },
): Reply {
  const common = { ETag: etag, ...caching };
  if (etagMatches(request['if-none-match'], etag)) return { status: 304, headers: common };
  return { text: bytes, headers: { ...common, ...headers } };
}

export const etagOf = (bytes: Uint8Array): string =>
  `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
