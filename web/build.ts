/**
 * Builds the pages: a folder here with an `index.html` becomes one of `dist/web`, its parts named by their content. Of one
 * with a `script.ts`, which pages of others load, a file is made that is named like it.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What a document asks for beside it: `src="page.ts"`. */
const PART = /(?<=(?:src|href)=")[\w-]+\.(?:ts|css|svg)(?=")/g;

for (const name of readdirSync(join(ROOT, 'web'))) {
  if (existsSync(join(ROOT, 'web', name, 'index.html'))) await buildPage(name);
  if (existsSync(join(ROOT, 'web', name, 'script.ts'))) await buildScript(name);
}

/** Of no module, and leaves no name behind on the page but those that it means to. */
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
    entryPoints: [...new Set(document.match(PART))].map((part) => join(source, part)),
    outdir: built,
    entryNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    loader: { '.svg': 'copy' },
    metafile: true,
    absWorkingDir: ROOT,
    logLevel: 'warning',
  });
  const named = new Map(
    Object.entries(metafile.outputs).map(([path, { entryPoint = '' }]) => [basename(entryPoint), basename(path)]),
  );
  mkdirSync(built, { recursive: true });
  writeFileSync(join(ROOT, 'dist/web', `${name}.licenses.txt`), licensesOf(Object.keys(metafile.inputs)));
  writeFileSync(
    join(built, 'index.html'),
    // Relative, so that the page also works behind a proxy that puts it under a path.
    document.replace(PART, (part) => `assets/${named.get(part)}`),
  );
}

/** Of the packages that went into a page: they ask to be passed on with it. */
function licensesOf(inputs: readonly string[]): string {
  const packages = inputs.flatMap((path) => /(?<=node_modules\/)(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []);
  const texts = [...new Set(packages)].sort().map((name) => {
    const text = readFileSync(join(ROOT, 'node_modules', name, 'LICENSE'), 'utf8');
    return `${name}\n\n${text.trim()}\n`;
  });
  return texts.join('\n---\n\n');
}
