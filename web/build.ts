/**
 * Bundles the web pages. A folder with an `index.html` becomes a folder in `dist/web` with content-hashed assets, also
 * compressed. A folder
 * with a `script.ts`, which other sites load, becomes a single file.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Matches local assets of a document: `src="page.tsx"`. */
const ASSET = /(?<=(?:src|href)=")[\w-]+\.(?:tsx?|css|svg)(?=")/g;

for (const name of readdirSync(join(ROOT, 'web'))) {
  if (existsSync(join(ROOT, 'web', name, 'index.html'))) await buildPage(name);
  if (existsSync(join(ROOT, 'web', name, 'script.ts'))) await buildScript(name);
}

/** Builds a classic script that defines no globals beyond the intended ones. */
async function buildScript(name: string): Promise<void> {
  await build({
    entryPoints: [join(ROOT, 'web', name, 'script.ts')],
    outfile: join(ROOT, 'dist/web', `${name}.js`),
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2020',
    absWorkingDir: ROOT,
    logLevel: 'warning',
  });
}

async function buildPage(name: string): Promise<void> {
  const [source, built] = [join(ROOT, 'web', name), join(ROOT, 'dist/web', name)];
  const document = readFileSync(join(source, 'index.html'), 'utf8');
  rmSync(built, { recursive: true, force: true });
  const { metafile } = await build({
    entryPoints: [...new Set(document.match(ASSET))].map((part) => join(source, part)),
    outdir: built,
    entryNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    loader: { '.svg': 'copy' },
    metafile: true,
    absWorkingDir: ROOT,
    logLevel: 'warning',
  });
  const assetNames = new Map(
    Object.entries(metafile.outputs).map(([path, { entryPoint = '' }]) => [basename(entryPoint), basename(path)]),
  );
  mkdirSync(built, { recursive: true });
  writeFileSync(join(ROOT, 'dist/web', `${name}.licenses.txt`), licensesOf(Object.keys(metafile.inputs)));
  writeFileSync(
    join(built, 'index.html'),
    // Relative URLs, so that the page works behind a proxy with a path prefix.
    document.replace(ASSET, (part) => `assets/${assetNames.get(part)}`),
  );
  for (const file of assetNames.values()) compress(join(built, file));
}

/** Writes `<file>.br` and `<file>.gz`, with the best compression, as they are sent often. */
function compress(file: string): void {
  const bytes = readFileSync(file);
  writeFileSync(`${file}.br`, brotliCompressSync(bytes));
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
}

/** Collects the licenses of bundled packages, which must be distributed with the page. */
function licensesOf(inputs: readonly string[]): string {
  const packages = inputs.flatMap((path) => /(?<=node_modules\/)(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  const texts = [...new Set(packages)].sort().map((name) => {
    const text = readFileSync(join(ROOT, 'node_modules', name, 'LICENSE'), 'utf8');
    return `${name}\n\n${text.trim()}\n`;
  });
  return texts.join('\n---\n\n');
}
