/** The documents of a service: its OpenAPI description as JSON and YAML, and an interactive reference at `/docs`. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type OpenApiDocument, openapi } from './openapi.js';
import type { ServicePolicy } from './policy.js';
import { problem } from './problem.js';
import { type Route, route } from './route.js';

const require = createRequire(import.meta.url);
const gzipped = promisify(gzip);
const UI = 'swagger-ui-dist';
const { version: UI_VERSION }: { version: string } = require(`${UI}/package.json`);

/** What the page loads, all of it from here: a reference that calls third parties tells them who reads it. */
const ASSETS: { readonly [name: string]: string } = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
};

const PAGE_HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-cache',
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** Routes for `/openapi.json`, `/openapi.yaml` and `/docs`; the one document names them besides `routes`. */
export function documentRoutes(policy: ServicePolicy, routes: readonly Route[]): readonly Route[] {
  let made: OpenApiDocument | undefined;
  const document = () => {
    made ??= openapi(policy, [...routes, json, yaml, page]);
    return made;
  };

  const json: Route = {
    method: 'GET',
    path: '/openapi.json',
    summary: 'This document',
    tags: ['Documents'],
    answers: { 200: { description: 'OpenAPI 3.1', schema: { type: 'object' } } },
    handle: () => ({ status: 200, body: document() }),
  };
  const yaml: Route = {
    method: 'GET',
    path: '/openapi.yaml',
    summary: 'This document, as YAML',
    tags: ['Documents'],
    answers: { 200: { description: 'OpenAPI 3.1', type: 'application/yaml' } },
    async handle() {
      const { stringify } = await import('yaml');
      return {
        status: 200,
        text: stringify(document(), { aliasDuplicateObjects: false }),
        headers: { 'Content-Type': 'application/yaml; charset=utf-8' },
      };
    },
  };
  const page: Route = {
    method: 'GET',
    path: '/docs',
    summary: 'This document to read and try out',
    tags: ['Documents'],
    answers: { 200: { description: 'A page', type: 'text/html' } },
    handle: () => ({ status: 200, text: html(policy), headers: PAGE_HEADERS }),
  };
  return [json, yaml, page, asset];
}

/** The page names its assets with their version, so that they may be kept for ever. */
const asset = route({
  method: 'GET',
  path: '/docs/:asset',
  summary: 'A part of the page',
  answers: { 200: { description: 'The part' }, 404: { description: 'The page has no such part' } },
  async handle({ params: { asset: name }, headers }) {
    const part = await partOf(name);
    if (!part) return problem(404, 'Not found');
    const packed = /\bgzip\b/.test(headers['accept-encoding'] ?? '');
    return {
      status: 200,
      text: packed ? part.packed : part.plain,
      headers: {
        'Content-Type': ASSETS[name] ?? 'text/javascript; charset=utf-8',
        'Cache-Control': 'public, max-age=31536000, immutable',
        'X-Content-Type-Options': 'nosniff',
        Vary: 'Accept-Encoding, Origin',
        ...(packed ? { 'Content-Encoding': 'gzip' } : {}),
      },
    };
  },
});

interface Part {
  readonly plain: Buffer;
  readonly packed: Buffer;
}

const parts = new Map<string, Promise<Part>>();

function partOf(name: string): Promise<Part> | undefined {
  if (name !== 'start.js' && !Object.hasOwn(ASSETS, name)) return undefined;
  const part = parts.get(name) ?? readPart(name);
  parts.set(name, part);
  return part;
}

async function readPart(name: string): Promise<Part> {
  const plain = name === 'start.js' ? Buffer.from(START) : await readFile(require.resolve(`${UI}/${name}`));
  return { plain, packed: await gzipped(plain) };
}

/** Addresses are relative, so that the page also works behind a proxy that puts it under a path. */
function html({ title, version }: ServicePolicy) {
  const seal = `v=${encodeURIComponent(`${UI_VERSION}-${version}`)}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="icon" href="docs/favicon-32x32.png?${seal}">
<link rel="stylesheet" href="docs/swagger-ui.css?${seal}">
</head>
<body>
<div id="reference"></div>
<noscript>This page needs JavaScript; the document itself is at <a href="openapi.json">openapi.json</a>.</noscript>
<script src="docs/swagger-ui-bundle.js?${seal}"></script>
<script src="docs/start.js?${seal}"></script>
</body>
</html>
`;
}

const START = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
});
`;

const ESCAPES: { readonly [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escaped = (text: string) => text.replaceAll(/[&<>]/g, (character) => ESCAPES[character] ?? character);
