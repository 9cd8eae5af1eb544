/** The pages of docs/ keep their word, and so do the comments that cite them: what they name is there, as they say. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { extractMermaidBlocks, validate } from '@probelabs/maid';
import { expect } from 'chai';
import { createMetrics } from '../../adapters/platform/observability/metrics.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const LAYERS = ['domain', 'application', 'projections', 'adapters', 'engines', 'bin', 'web'];

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const filesIn = (folder: string, end: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(end) && !name.startsWith('dist/'))
    .map((name) => `${folder}/${name}`);

const pages = filesIn('docs', '.md').map((path) => ({ path, text: read(path) }));
const sources = LAYERS.flatMap((layer) => filesIn(layer, '.ts')).map((path) => ({ path, text: read(path) }));
const code = sources.map(({ text }) => text).join('\n');

const files = [...sources.map(({ path }) => path), ...filesIn('test', '.ts')];
/** By its path, or by the end of it. */
const isThere = (name: string) => files.some((path) => `/${path}`.endsWith(`/${name}`));

/** What stands in backticks, outside of pictures and blocks. */
const named = (text: string): string[] =>
  [...text.replaceAll(/^```.*?^```/gms, '').matchAll(/`([^`\n]+)`/g)].map(([, name = '']) => name);

/** Those that a rule says are wrong, with where they stand. */
const wrong = (found: (text: string) => readonly string[], among = pages) =>
  among.flatMap(({ path, text }) => found(text).map((name) => `${path}: ${name}`));

describe('the pages about the code', () => {
  it('are all in the index, and short', () => {
    for (const folder of ['guide', 'decisions']) {
      const index = read(folder === 'guide' ? 'docs/README.md' : 'docs/decisions/README.md');
      const listed = pages.filter(({ path }) => path.startsWith(`docs/${folder}/`) && !path.endsWith('README.md'));
      expect(listed.length).to.be.at.least(10);
      const name = (path: string) => (folder === 'guide' ? path.slice('docs/'.length) : basename(path));
      expect(listed.map(({ path }) => path).filter((path) => !index.includes(`(${name(path)})`))).to.deep.equal([]);
    }
    const written = pages.filter(({ path }) => path !== 'docs/settings.md');
    expect(wrong((text) => (text.split('\n').length > 130 ? ['is long'] : []), written)).to.deep.equal([]);
  });

  it('have pictures that can be drawn', () => {
    const undrawn = (text: string) => {
      const pictures = extractMermaidBlocks(text).map(({ content }) => ({ content, ...validate(content) }));
      return pictures.flatMap(({ content, type, errors }) => [
        ...(type === 'unknown' ? ['has a picture of an unknown kind'] : []),
        ...errors.map(({ line, message }) => `${line}: ${message}`),
        // Words of mermaid's own, which the parser takes for names.
        ...(content.match(/^ *(?:call|href) .*/gm) ?? []),
      ]);
    };
    expect(wrong(undrawn)).to.deep.equal([]);
    const guide = pages.filter(({ path }) => path.startsWith('docs/guide/'));
    expect(wrong((text) => (text.includes('```mermaid') ? [] : ['has no picture']), guide)).to.deep.equal([]);
  });

  it('name only files that exist', () => {
    const unknown = wrong((text) => named(text).filter((name) => /^[\w./-]+\.ts$/.test(name) && !isThere(name)));
    expect(unknown).to.deep.equal([]);
    const path = /^(?:domain|application|projections|adapters|bin|web|test|docs)\/[\w./-]+$/;
    const gone = wrong((text) => named(text).filter((name) => path.test(name) && !existsSync(join(ROOT, name))));
    expect(gone).to.deep.equal([]);
  });

  it('link only to pages that exist', () => {
    const links = (text: string) => [...text.matchAll(/\]\(([^)#:]+)\)/g)].map(([, to = '']) => to);
    const broken = pages.flatMap(({ path, text }) =>
      links(text)
        .filter((to) => !existsSync(join(ROOT, dirname(path), to)))
        .map((to) => `${path}: ${to}`),
    );
    expect(broken).to.deep.equal([]);
  });

  it('name only settings, read models, caches and background work that there are', () => {
    const dotted =
      /^(?:chat|auth|email|oauth|logs|rooms|eventStore|mongo|mesh|operations|server|log)\.[a-z][a-zA-Z.]*$/;
    const unknown = (name: string) => dotted.test(name) && !code.includes(`'${name}'`);
    expect(wrong((text) => named(text).filter(unknown))).to.deep.equal([]);
  });

  it('name only metrics that there are', async () => {
    const told = await createMetrics().text();
    const metric = /^(?:annals|nodejs|process)_\w+$/;
    const unknown = (name: string) => metric.test(name) && !told.includes(` ${name} `);
    expect(wrong((text) => named(text).filter(unknown))).to.deep.equal([]);
  });

  it('tell the bounds as they are in the code', () => {
    const row = /^\| (.+?) +\| (\d.*?) +\|.*\| `(\w+)` in `(.+?)` +\|$/gm;
    const bounds = pages.flatMap(({ text }) => [...text.matchAll(row)]);
    expect(bounds.length).to.be.greaterThan(40);
    for (const [, what = '', told = '', name = '', path = ''] of bounds)
      expect(valuesOf(name, read(path)), `${what}: ${name} in ${path}`).to.include(amountOf(told));
  });
});

describe('the comments', () => {
  it('cite only pages that exist', () => {
    const cited = (text: string) => [...text.matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(([name]) => name);
    expect(sources.flatMap(({ text }) => cited(text)).length).to.be.greaterThan(5);
    expect(wrong((text) => cited(text).filter((name) => !existsSync(join(ROOT, name))), sources)).to.deep.equal([]);
  });

  it('cite only files that exist', () => {
    const cited = (text: string) =>
      [...text.matchAll(COMMENT)].flatMap(([comment]) => comment.match(/\b[\w./-]+\.ts\b/g) ?? []);
    expect(sources.flatMap(({ text }) => cited(text)).length).to.be.greaterThan(5);
    expect(wrong((text) => cited(text).filter((name) => !isThere(name)), sources)).to.deep.equal([]);
  });

  it('cite nothing that is not in the repository', () => {
    const elsewhere = /\(?(?:answers-[a-z]+|design,? section \d+)/g;
    expect(wrong((text) => text.match(elsewhere) ?? [], sources)).to.deep.equal([]);
  });
});

const COMMENT = /\/\*.*?\*\/|^\s*\/\/.*?$/gms;

const UNITS: { readonly [unit: string]: number } = {
  '': 1,
  ms: 1,
  s: 1000,
  min: 60_000,
  KiB: 1024,
  MiB: 1024 ** 2,
};

/** `3.5 s` in ms, `64 KiB` in bytes, `50,000` as it is. */
function amountOf(told: string): number {
  const [, amount = '', unit = ''] = /^([\d.,]+) ?(\w*)$/.exec(told) ?? [];
  return Number(amount.replaceAll(',', '')) * (UNITS[unit] ?? Number.NaN);
}

/** Every number, or product of numbers, that is given to the name. */
function valuesOf(name: string, text: string): number[] {
  const given = new RegExp(`\\b${name}(?:: \\w+)? ?[=:] ?(?:\\{ burst: )?([\\d_]+(?:\\.\\d+)?(?: \\* [\\d_]+)*)`, 'g');
  return [...text.matchAll(given)].map(([, product = '']) =>
    product.split(' * ').reduce((all, each) => all * Number(each.replaceAll('_', '')), 1),
  );
}
