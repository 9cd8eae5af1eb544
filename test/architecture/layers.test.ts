/** The arrows of the house: who may import whom. A file that breaks one is named. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const LAYERS = ['domain', 'application', 'projections', 'adapters', 'bin'] as const;
const SERVICES = ['chat', 'meeting', 'analytics', 'logs', 'rooms'];

interface Source {
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  /** Paths from the root for our own modules, names for packages and `node:` modules. */
  readonly imports: readonly string[];
}

const sources: readonly Source[] = LAYERS.flatMap((layer) =>
  readdirSync(join(ROOT, layer), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map((name) => read(join(layer, name))),
);

function read(path: string): Source {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const specifiers = [...text.matchAll(/(?:from|import\(?)\s*'([^']+)'/g)].map(([, name = '']) => name);
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

const offences = (rule: (source: Source, imported: string) => boolean) =>
  sources.flatMap((source) =>
    source.imports.filter((name) => rule(source, name)).map((name) => `${source.path} imports ${name}`),
  );

const mayImport = (layer: string, allowed: readonly string[]) =>
  offences(({ path }, name) => layerOf(path) === layer && ours(name) && !allowed.includes(layerOf(name)));

describe('the architecture', () => {
  it('has sources to look at', () => {
    expect(sources.length).to.be.greaterThan(30);
  });

  it('keeps the domain pure: nothing outside it, not even node', () => {
    expect(
      offences(({ path }, name) => layerOf(path) === 'domain' && layerOf(name) !== 'domain'),
    ).to.deep.equal([]);
  });

  it('lets the application see the domain and its own ports only', () => {
    expect(mayImport('application', ['application', 'domain'])).to.deep.equal([]);
    const drivers = ['mongodb', '@eventstore/db-client', 'koa', 'ws', 'lmdb', 'pino'];
    expect(
      offences(({ path }, name) => layerOf(path) === 'application' && drivers.includes(name)),
    ).to.deep.equal([]);
  });

  it('lets projections see the domain, the ports and mongodb', () => {
    expect(mayImport('projections', ['projections', 'application', 'domain'])).to.deep.equal([]);
  });

  it('lets only bin construct: nothing imports it', () => {
    expect(offences(({ path }, name) => layerOf(name) === 'bin' && layerOf(path) !== 'bin')).to.deep.equal(
      [],
    );
  });

  it('keeps services apart from each other', () => {
    const apart = offences(({ path }, name) => {
      const [from, to] = [serviceOf(path), ours(name) ? serviceOf(name) : undefined];
      return from !== undefined && to !== undefined && from !== to;
    });
    expect(apart).to.deep.equal([]);
  });

  it('keeps shared code from knowing a service', () => {
    const knowing = offences(
      ({ path }, name) =>
        layerOf(path) !== 'bin' && !serviceOf(path) && ours(name) && serviceOf(name) !== undefined,
    );
    expect(knowing).to.deep.equal([]);
  });

  it('keeps the client libraries of the two servers in their rooms', () => {
    const strays = offences(
      ({ path }, name) =>
        name.startsWith('@eventstore/') &&
        !/^adapters\/(eventstore|engines\/eventstore)\/|^bin\/kernel/.test(path),
    );
    expect(strays).to.deep.equal([]);
  });

  it('opens every file with a sentence that says what it is for', () => {
    const silent = sources.filter(({ text }) => !/^(#!.*\n)?\/\*\*|^(#!.*\n)?\/\/ /.test(text));
    expect(silent.map(({ path }) => path)).to.deep.equal([]);
  });

  it('keeps files small: over 300 lines only with a reason in the first line', () => {
    const long = sources.filter(
      ({ lines, text }) => lines > 301 && !/^.*\b(long|one table|because)\b/i.test(text),
    );
    expect(long.map(({ path, lines }) => `${relative('.', path)}: ${lines}`)).to.deep.equal([]);
  });
});
