/** Serves the OpenAPI document of a service as JSON and YAML, and an interactive reference at `/docs`. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { acceptsEncoding } from './accept-encoding.js';
import { openapi, openapiRoute } from './openapi.js';
import { problem, type ServicePolicy } from './policy.js';
import { type Route, route } from './route.js';

const require = createRequire(import.meta.url);
const compress = promisify(gzip);
const UI = 'swagger-ui-dist';
const { version: UI_VERSION }: { version: string } = require(`${UI}/package.json`);

/** Assets of the page. All are served from here, so that no third party learns who reads it. */
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

/** Routes for `/openapi.json`, `/openapi.yaml` and `/docs`; the document includes them and `routes`. */
export function documentRoutes(policy: ServicePolicy, routes: readonly Route[]): readonly Route[] {
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
        text: stringify(openapi(policy, [...routes, yaml, page, json]), { aliasDuplicateObjects: false }),
        headers: { 'Content-Type': 'application/yaml; charset=utf-8' },
      };
    },
  };
  const page: Route = {
    method: 'GET',
    path: '/docs',
    summary: 'Interactive reference',
    tags: ['Documents'],
    answers: { 200: { description: 'The page', type: 'text/html' } },
    handle: () => ({ status: 200, text: html(policy), headers: PAGE_HEADERS }),
  };
  const tag = (route: Route): Route => ({ ...route, tags: ['Documents'] });
  const json = openapiRoute(policy, [...routes, yaml, page], tag);
  return [json, yaml, page, asset];
}

/** The page refers to assets by version, so they can be cached forever. */
const asset = route({
  method: 'GET',
  path: '/docs/:asset',
  summary: 'An asset of the reference',
  answers: { 200: { description: 'The asset' }, 404: { description: 'There is no such asset' } },
  async handle({ params: { asset: name }, headers }) {
    const file = await loadAsset(name);
    if (!file) return problem(404, 'Not found');
    const gzipped = acceptsEncoding(headers, 'gzip');
    return {
      status: 200,
      text: gzipped ? file.gzip : file.plain,
      headers: {
        'Content-Type': ASSETS[name] ?? typeOf(name),
        'Cache-Control': 'public, max-age=31536000, immutable',
        'X-Content-Type-Options': 'nosniff',
        Vary: 'Accept-Encoding, Origin',
        ...(gzipped ? { 'Content-Encoding': 'gzip' } : {}),
      },
    };
  },
});

interface AssetFile {
  readonly plain: Buffer;
  readonly gzip: Buffer;
}

const files = new Map<string, Promise<AssetFile>>();

function loadAsset(name: string): Promise<AssetFile> | undefined {
  if (!Object.hasOwn(OWN_ASSETS, name) && !Object.hasOwn(ASSETS, name)) return undefined;
  const file = files.get(name) ?? readAsset(name);
  files.set(name, file);
  return file;
}

async function readAsset(name: string): Promise<AssetFile> {
  const own = Object.hasOwn(OWN_ASSETS, name) ? OWN_ASSETS[name] : undefined;
  const plain = own === undefined ? await readFile(require.resolve(`${UI}/${name}`)) : Buffer.from(own);
  return { plain, gzip: await compress(plain) };
}

/** Uses relative addresses, to work behind a proxy under a path. */
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
<link rel="stylesheet" href="docs/contrast.css?${seal}">
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

/** Darker colours where the interface's own are hard to read. */
const CONTRAST = `
.swagger-ui .info .title small { background: #5c6270 }
.swagger-ui .info .title small.version-stamp { background: #4a6a00 }
.swagger-ui .info a, .swagger-ui .info .url { color: #2557d6 }
.swagger-ui .btn.authorize { color: #17703f; border-color: #17703f }
.swagger-ui .btn.authorize svg { fill: #17703f }
.swagger-ui .btn.cancel { color: #b3261e; border-color: #b3261e }
.swagger-ui .btn.execute { background: #2557d6; border-color: #2557d6 }
.swagger-ui .parameter__in, .swagger-ui .parameter__deprecated { color: #566072 }
.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #1c5fae }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #17703f }
.swagger-ui .opblock.opblock-put .opblock-summary-method { background: #8a4b00 }
.swagger-ui .opblock.opblock-patch .opblock-summary-method { background: #0b6b6b }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #b3261e }
`;

const OWN_ASSETS: { readonly [name: string]: string } = { 'start.js': START, 'contrast.css': CONTRAST };

const typeOf = (name: string) => (name.endsWith('.css') ? 'text/css; charset=utf-8' : 'text/javascript; charset=utf-8');

const ESCAPES: { readonly [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escaped = (text: string) => text.replaceAll(/[&<>]/g, (character) => ESCAPES[character] ?? character);
