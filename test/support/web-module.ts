/** Modules of the web pages for tests in Node. They are compiled for browsers, so they are bundled when a test loads them. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const WEB = fileURLToPath(new URL('../../../web/', import.meta.url));

/** Imports modules below `web/` that need no browser; `Module` declares what the test uses of them. */
export async function importWeb<Module>(...paths: readonly string[]): Promise<Module> {
  const { outputFiles } = await build({
    stdin: { contents: paths.map((path) => `export * from './${path}';`).join('\n'), resolveDir: WEB, loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    jsx: 'automatic',
    jsxImportSource: 'preact',
  });
  const code = outputFiles[0]?.contents ?? new Uint8Array();
  return import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`) as Promise<Module>;
}
