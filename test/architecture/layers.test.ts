/** Architecture rules: allowed imports between layers, services and kernel folders. Violations are listed by file. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const LAYERS = ['domain', 'application', 'projections', 'adapters', 'engines', 'bin', 'web'] as const;
const SERVICES = ['chat', 'meeting', 'analytics', 'logs', 'rooms'];

interface Source {
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  /** Paths from the root for our own modules, names for packages and `node:` modules. */
  readonly imports: readonly string[];
}

const sourcesIn = (folder: string): Source[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /^(?!dist\/|node_modules\/).*(?<!\.d)\.ts$/.test(name))
    .map((name) => read(join(folder, name)));

const sources: readonly Source[] = LAYERS.flatMap(sourcesIn);
const tests = sourcesIn('test');

function read(path: string): Source {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const specifiers = [...text.matchAll(/(?:from|import\(?|require\()\s*'([^']+)'/g)].map(([, name = '']) => name);
  const imports = specifiers.map((name) =>
    name.startsWith('.') ? normalize(join(dirname(path), name)).replace(/\.js$/, '.ts') : name,
  );
  return { path, text, lines: text.split('\n').length, imports };
}

const layerOf = (path: string) => path.split('/')[0] ?? '';
const ours = (name: string) => (LAYERS as readonly string[]).includes(layerOf(name));
/** The service a file belongs to, by its folder or its own name (`adapters/http/rooms/routes.ts`). */
const serviceOf = (path: string) => {
  const parts = path.replace(/\.ts$/, '').split('/').slice(1);
  return SERVICES.find((service) => parts.includes(service));
};

/** Import cycles: groups of files that import each other directly or transitively (Tarjan's strongly connected components). */
function importCycles(): string[] {
  const seen = new Map<string, number>();
  const open: string[] = [];
  const found: string[] = [];
  const lowest = (path: string): number => {
    const own = seen.size;
    seen.set(path, own);
    open.push(path);
    let low = own;
    for (const next of importsOf.get(path) ?? []) {
      if (!seen.has(next)) low = Math.min(low, lowest(next));
      else if (open.includes(next)) low = Math.min(low, seen.get(next) ?? own);
    }
    if (low === own) {
      const group = open.splice(open.indexOf(path));
      if (group.length > 1 || importsOf.get(path)?.includes(path)) found.push(group.sort().join(' <-> '));
    }
    return low;
  };
  for (const path of importsOf.keys()) if (!seen.has(path)) lowest(path);
  return found.sort();
}

const importsOf = new Map(sources.map(({ path, imports }) => [path, imports.filter(ours)]));

const violationsOf = (rule: (source: Source, imported: string) => boolean) =>
  sources.flatMap((source) =>
    source.imports.filter((name) => rule(source, name)).map((name) => `${source.path} imports ${name}`),
  );

const mayImport = (layer: string, allowed: readonly string[]) =>
  violationsOf(({ path }, name) => layerOf(path) === layer && ours(name) && !allowed.includes(layerOf(name)));

describe('architecture rules', () => {
  it('finds the source files to check', () => {
    expect(sources.length).to.be.greaterThan(30);
  });

  it('lets the domain import nothing but itself, not even node modules', () => {
    expect(violationsOf(({ path }, name) => layerOf(path) === 'domain' && layerOf(name) !== 'domain')).to.deep.equal(
      [],
    );
  });

  it('lets the application import only the domain and its own ports', () => {
    expect(mayImport('application', ['application', 'domain'])).to.deep.equal([]);
    const drivers = ['mongodb', '@eventstore/db-client', 'koa', 'ws', 'lmdb', 'pino'];
    expect(violationsOf(({ path }, name) => layerOf(path) === 'application' && drivers.includes(name))).to.deep.equal(
      [],
    );
  });

  it('lets projections import only the application and the domain', () => {
    expect(mayImport('projections', ['projections', 'application', 'domain'])).to.deep.equal([]);
  });

  it('lets definitions of services, which commands load, import nothing that serves requests', () => {
    const definitions = sources.filter(({ path }) => path.startsWith('bin/services/definitions/'));
    // One for each service, and their list.
    expect(definitions).to.have.length(SERVICES.length + 1);
    const others = definitions.flatMap(({ path, imports }) =>
      imports
        .filter((name) => !/^(domain|application|projections|bin\/services\/definitions)\//.test(name))
        .filter((name) => name !== 'bin/node/service.ts')
        .map((name) => `${path} -> ${name}`),
    );
    expect(others).to.deep.equal([]);
  });

  it('lets nothing import bin', () => {
    expect(violationsOf(({ path }, name) => layerOf(name) === 'bin' && layerOf(path) !== 'bin')).to.deep.equal([]);
  });

  it('keeps the embedded engines and the application independent of each other', () => {
    expect(mayImport('engines', ['engines'])).to.deep.equal([]);
    expect(
      violationsOf(
        ({ path }, name) =>
          layerOf(path) !== 'engines' && (layerOf(name) === 'engines' || name.startsWith('@annals/engines/')),
      ),
    ).to.deep.equal([]);
  });

  it('imports kernel folders through their index only', () => {
    const KERNEL =
      /^(application\/(ports|command|subscription|consistency|concurrency|secrets|time|audit)|domain\/shared|projections\/kernel)\//;
    const folderOf = (path: string) => KERNEL.exec(path)?.[0];
    const deep = violationsOf(
      ({ path }, name) =>
        folderOf(name) !== undefined && folderOf(name) !== folderOf(path) && !name.endsWith('/index.ts'),
    );
    expect(deep).to.deep.equal([]);
    const inner = violationsOf(({ path }, name) => folderOf(path) === folderOf(name) && /\/index\.ts$/.test(name));
    expect(inner).to.deep.equal([]);
  });

  it('lets web pages and the server import nothing from each other', () => {
    expect(mayImport('web', ['web'])).to.deep.equal([]);
    expect(violationsOf(({ path }, name) => layerOf(name) === 'web' && layerOf(path) !== 'web')).to.deep.equal([]);
  });

  it('lets no service import another service', () => {
    const violations = violationsOf(({ path }, name) => {
      const [from, to] = [serviceOf(path), ours(name) ? serviceOf(name) : undefined];
      return from !== undefined && to !== undefined && from !== to;
    });
    expect(violations).to.deep.equal([]);
  });

  it('lets shared code import no service', () => {
    const violations = violationsOf(
      ({ path }, name) => layerOf(path) !== 'bin' && !serviceOf(path) && ours(name) && serviceOf(name) !== undefined,
    );
    expect(violations).to.deep.equal([]);
  });

  it('has no import cycles, including type imports', () => {
    expect(importCycles()).to.deep.equal([]);
  });

  it('confines the event store client library to its adapter and the engines', () => {
    const violations = violationsOf(
      ({ path }, name) => name.startsWith('@eventstore/') && !/^adapters\/eventstore\/|^engines\/test\//.test(path),
    );
    expect(violations).to.deep.equal([]);
  });

  it('starts every file with a comment that says what it is for', () => {
    const undocumented = [...sources, ...tests].filter(({ text }) => !/^(#!.*\n)?\/\*\*|^(#!.*\n)?\/\/ /.test(text));
    expect(undocumented.map(({ path }) => path)).to.deep.equal([]);
  });

  it('limits files to 300 lines unless the first line gives a reason', () => {
    const long = [...sources, ...tests].filter(
      ({ lines, text }) => lines > 301 && !/^.*\b(long|one table|because)\b/i.test(text),
    );
    expect(long.map(({ path, lines }) => `${relative('.', path)}: ${lines}`)).to.deep.equal([]);
  });
});
