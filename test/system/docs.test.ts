/** Checks that docs and comments are true: everything they name exists. */
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
const ENTRY_PAGES = ['README.md', 'CONTRIBUTING.md', 'engines/README.md'];
const allPages = [...pages, ...ENTRY_PAGES.map((path) => ({ path, text: read(path) }))];
const sources = LAYERS.flatMap((layer) => filesIn(layer, '.ts')).map((path) => ({ path, text: read(path) }));
const code = sources.map(({ text }) => text).join('\n');

const files = [...sources.map(({ path }) => path), ...filesIn('test', '.ts')];
/** By path, or by the end of a path. */
const isThere = (name: string) => files.some((path) => `/${path}`.endsWith(`/${name}`));

/** Text in backticks, outside of diagrams and code blocks. */
const named = (text: string): string[] =>
  [...text.replaceAll(/^```.*?^```/gms, '').matchAll(/`([^`\n]+)`/g)].map(([, name = '']) => name);

/** Violations of a rule, with their locations. */
const wrong = (found: (text: string) => readonly string[], among = pages) =>
  among.flatMap(({ path, text }) => found(text).map((name) => `${path}: ${name}`));

describe('documentation pages', () => {
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

  it('have valid diagrams', () => {
    const undrawn = (text: string) => {
      const pictures = extractMermaidBlocks(text).map(({ content }) => ({ content, ...validate(content) }));
      return pictures.flatMap(({ content, type, errors }) => [
        ...(type === 'unknown' ? ['has a picture of an unknown kind'] : []),
        ...errors.map(({ line, message }) => `${line}: ${message}`),
        // Keywords of mermaid that the parser takes for names.
        ...(content.match(/^ *(?:call|href) .*/gm) ?? []),
      ]);
    };
    expect(wrong(undrawn)).to.deep.equal([]);
    const guide = pages.filter(({ path }) => path.startsWith('docs/guide/'));
    expect(wrong((text) => (text.includes('```mermaid') ? [] : ['has no picture']), guide)).to.deep.equal([]);
  });

  it('name only existing files', () => {
    const lacks = (text: string) => named(text).filter((name) => /^[\w./-]+\.ts$/.test(name) && !isThere(name));
    const unknown = wrong(lacks, allPages);
    expect(unknown).to.deep.equal([]);
    const path = new RegExp(`^(?:${[...LAYERS, 'test', 'docs'].join('|')})/[\\w./-]+$`);
    const absent = (text: string) => named(text).filter((name) => path.test(name) && !existsSync(join(ROOT, name)));
    // The README of the engines names files relative to itself.
    const gone = wrong(
      absent,
      allPages.filter(({ path }) => path !== 'engines/README.md'),
    );
    expect(gone).to.deep.equal([]);
  });

  it('link only to existing pages', () => {
    const links = (text: string) => [...text.matchAll(/\]\(([^)#:]+)(?:#[\w-]+)?\)/g)].map(([, to = '']) => to);
    const broken = allPages.flatMap(({ path, text }) =>
      links(text)
        .filter((to) => !existsSync(join(ROOT, dirname(path), to)))
        .map((to) => `${path}: ${to}`),
    );
    expect(broken).to.deep.equal([]);
  });

  it('name only existing settings, read models, caches and background jobs', () => {
    const dotted =
      /^(?:chat|auth|email|oauth|logs|rooms|eventStore|mongo|mesh|operations|server|log)\.[a-z][a-zA-Z.]*$/;
    const unknown = (name: string) => dotted.test(name) && !code.includes(`'${name}'`);
    expect(wrong((text) => named(text).filter(unknown))).to.deep.equal([]);
  });

  it('name only existing metrics', async () => {
    const metrics = await createMetrics().text();
    const metric = /^(?:annals|nodejs|process)_\w+$/;
    const unknown = (name: string) => metric.test(name) && !metrics.includes(` ${name} `);
    expect(wrong((text) => named(text).filter(unknown))).to.deep.equal([]);
  });

  it('give limits as in the code', () => {
    const row = /^\| (.+?) +\| (\d.*?) +\|.*\| `(\w+)` in `(.+?)` +\|$/gm;
    const bounds = pages.flatMap(({ text }) => [...text.matchAll(row)]);
    expect(bounds.length).to.be.greaterThan(40);
    for (const [, what = '', metrics = '', name = '', path = ''] of bounds)
      expect(valuesOf(name, read(path)), `${what}: ${name} in ${path}`).to.include(amountOf(metrics));
  });
});

describe('the comments', () => {
  it('cite only existing pages', () => {
    const cited = (text: string) => [...text.matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(([name]) => name);
    expect(sources.flatMap(({ text }) => cited(text)).length).to.be.greaterThan(5);
    expect(wrong((text) => cited(text).filter((name) => !existsSync(join(ROOT, name))), sources)).to.deep.equal([]);
  });

  it('cite only existing files', () => {
    const cited = (text: string) =>
      [...text.matchAll(COMMENT)].flatMap(([comment]) => comment.match(/\b[\w./-]+\.ts\b/g) ?? []);
    expect(sources.flatMap(({ text }) => cited(text)).length).to.be.greaterThan(5);
    expect(wrong((text) => cited(text).filter((name) => !isThere(name)), sources)).to.deep.equal([]);
  });

  it('cite nothing outside the repository', () => {
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

/** Parses `3.5 s` to ms, `64 KiB` to bytes, `50,000` as is. */
function amountOf(metrics: string): number {
  const [, amount = '', unit = ''] = /^([\d.,]+) ?(\w*)$/.exec(metrics) ?? [];
  return Number(amount.replaceAll(',', '')) * (UNITS[unit] ?? Number.NaN);
}

/** All numbers, or products of numbers, assigned to the name. */
function valuesOf(name: string, text: string): number[] {
  const given = new RegExp(
    `\\b${name}(?:: \\w+)? ?[=:(]\\s*(?:\\{ burst: )?([\\d_]+(?:\\.\\d+)?(?: \\* [\\d_]+)*)`,
    'g',
  );
  return [...text.matchAll(given)].map(([, product = '']) =>
    product.split(' * ').reduce((all, each) => all * Number(each.replaceAll('_', '')), 1),
  );
}
