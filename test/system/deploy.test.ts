/** Checks the files of `deploy/` as far as that goes without containers: they are valid and fit the program. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { parse } from 'yaml';
import { connectEventStore } from '../../adapters/eventstore/client.js';
import { loadConfig } from '../../adapters/platform/config/config.js';
import { envNames } from '../../adapters/platform/config/setting-names.js';
import { rulesOf, serviceNames, settings } from '../../bin/settings.js';
import { ANNALS, startServer } from '../support/server-process.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface Service {
  readonly build?: { readonly dockerfile: string };
  readonly image: string;
  readonly hostname?: string;
  readonly entrypoint?: readonly string[];
  readonly environment?: { readonly [name: string]: string };
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: { readonly [service: string]: { readonly condition: string } };
  readonly healthcheck?: object;
  readonly stop_grace_period?: string;
  readonly networks?: { readonly default: { readonly ipv4_address: string } };
}
interface Compose {
  readonly services: { readonly [name: string]: Service };
  readonly secrets: { readonly [name: string]: { readonly file: string } };
  readonly volumes: object;
}
const compose: Compose = parse(read('deploy/compose.yaml'), { merge: true });
const services = Object.entries(compose.services);
const dockerfile = read('deploy/Dockerfile').replaceAll('\\\n', ' ');
const config = read('deploy/annals.config.mjs');

/** The last instruction of this name in the Dockerfile, in its exec form. */
const execForm = (instruction: string): string[] =>
  JSON.parse(new RegExp(`^${instruction} .*?(\\[.*\\])$`, 'gm').exec(dockerfile)?.[1] ?? 'null');

describe('compose.yaml', () => {
  it('is valid by the Compose Specification', () => {
    const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, validateSchema: false });
    const validate = ajv.compile(JSON.parse(read('test/fixtures/compose/compose-spec.json')));
    validate(compose);
    expect(validate.errors ?? []).to.deep.equal([]);
  });

  it('refers to nothing that it does not declare, and declares nothing that it does not use', () => {
    const dependencies = services.flatMap(([, each]) => Object.entries(each.depends_on ?? {}));
    for (const [name, { condition }] of dependencies) {
      expect(Object.keys(compose.services)).to.include(name);
      if (condition === 'service_healthy')
        expect(compose.services[name], name).to.satisfy((each: Service) => each.healthcheck ?? each.build);
    }
    const volumes = services.flatMap(([, each]) => (each.volumes ?? []).map((volume) => volume.split(':')[0] ?? ''));
    const [files, named] = [volumes.filter((each) => /^\./.test(each)), volumes.filter((each) => !/^\./.test(each))];
    for (const file of files) expect(existsSync(join(ROOT, 'deploy', file)), file).to.equal(true);
    expect([...new Set(named)].sort()).to.deep.equal(Object.keys(compose.volumes).sort());
    const used = services.flatMap(([, each]) => each.secrets ?? []);
    expect([...new Set(used)].sort()).to.deep.equal(Object.keys(compose.secrets).sort());
  });

  it('mounts every secret that a service reads', () => {
    const readers = services.map(([name, each]) => ({ name, each, text: each.build ? config : JSON.stringify(each) }));
    const readBy = (text: string) =>
      [...text.matchAll(/\/run\/secrets\/(\w+)|secret\('(\w+)'\)/g)].map(([, path, call]) => path ?? call ?? '');
    for (const { name, each, text } of readers) {
      if (readBy(text).length > 0) expect(each.secrets, name).to.include.members(readBy(text));
      if (each.build) expect([...(each.secrets ?? [])].sort(), name).to.deep.equal(readBy(text).sort());
    }
  });

  it('runs scripts that bash can parse', () => {
    const scripts = services.flatMap(([name, { entrypoint = [] }]) => {
      expect(entrypoint.slice(0, 2), name).to.deep.equal(entrypoint.length > 0 ? ['bash', '-euc'] : []);
      return entrypoint.slice(2).map((script) => ({ name, script: script.replaceAll('$$', '$') }));
    });
    expect(scripts).to.have.length(8);
    for (const { name, script } of scripts) {
      const { status, stderr } = spawnSync('bash', ['-n', '-c', script], { encoding: 'utf8' });
      expect({ name, status, stderr }).to.deep.equal({ name, status: 0, stderr: '' });
    }
  });

  it('creates a certificate for each node of the event store, and names the nodes alike everywhere', () => {
    const nodes = services.filter(([, { image }]) => image.startsWith('eventstore/eventstore:'));
    const names = nodes.map(([name, { hostname }]) => (hostname === name ? name : `${name} is called ${hostname}`));
    const certificates = compose.services.certificates?.entrypoint?.[2] ?? '';
    expect(/for node in (.*); do/.exec(certificates)?.[1]?.split(' ')).to.deep.equal(names);
    const hosts = names.map((name) => `${name}:2113`).join(',');
    for (const [, { environment }] of nodes) {
      expect(environment?.EVENTSTORE_GOSSIP_SEED).to.equal(hosts);
      expect(environment?.EVENTSTORE_CLUSTER_SIZE).to.equal(names.length);
    }
    expect(config).to.include(`@${hosts}?tls=true`);
  });

  it('gives the proxy the address that the nodes trust, and the ports that they listen on', () => {
    const address = compose.services.proxy?.networks?.default.ipv4_address;
    expect(config).to.include(`trustedProxies: ['${address}']`);
    const sites = [...read('deploy/Caddyfile').matchAll(/^(\w+)\.\{\$DOMAIN\} \{\n\timport nodes (\d+)$/gm)];
    expect(sites.map(([, name, port]) => [name, Number(port)])).to.deep.equal(
      serviceNames.map((name) => [name, settings[`${name}.port`].default]),
    );
  });
});

describe('annals.config.mjs of the containers', () => {
  let directory: string;
  const domain = process.env.DOMAIN;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'annals-deploy-'));
    process.env.DOMAIN = 'example.org';
  });
  after(async () => {
    if (domain === undefined) delete process.env.DOMAIN;
    else process.env.DOMAIN = domain;
    await rm(directory, { recursive: true });
  });

  it('is accepted for all services, with connection strings that the drivers parse', async () => {
    for (const name of Object.keys(compose.secrets)) await writeFile(join(directory, name), `${'4f'.repeat(32)}\n`);
    const authority = join(directory, 'ca.crt');
    await writeFile(authority, '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n');
    const file = join(directory, 'annals.config.mjs');
    await writeFile(file, config.replace('/run/secrets', directory).replace('/authority/ca.crt', authority));
    const { values } = await loadConfig(settings, { flags: {}, env: {}, directory, file }, rulesOf(serviceNames));
    expect(values['chat.initialUser.email']).to.equal('admin@example.org');
    const url = values['eventStore.url'] ?? '';
    await connectEventStore(url).dispose();
    // The driver ignores parameters that it does not know.
    expect(() => connectEventStore(url.replace(authority, '/missing'))).to.throw('not found');
    const { options } = new MongoClient(values['mongo.url'] ?? '');
    expect(options).to.include({ replicaSet: 'annals' });
    const members = services.filter(([, each]) => each.image.startsWith('mongo:') && each.hostname);
    expect(options.hosts.map(({ host }) => host)).to.deep.equal(members.map(([name]) => name));
  });
});

describe('command lines of Dockerfile and annals.service', () => {
  const unit = read('deploy/annals.service');
  const [, started = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
  const commandLines = [[...execForm('ENTRYPOINT'), ...execForm('CMD')], started.split(' ')];

  it('are accepted by node and the program', () => {
    for (const [node = '', ...line] of commandLines) {
      expect(node).to.match(/^(\/usr\/bin\/)?node$/);
      const program = line.findIndex((each) => each.endsWith('dist/bin/annals.js'));
      const [command, ...flags] = line.slice(program + 1);
      expect(command).to.equal('serve');
      // Of `serve`, with its settings, but without running it.
      const args = [...line.slice(0, program), ANNALS, 'config', ...flags];
      const { status, stderr, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8', cwd: '/' });
      expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
      expect(stdout).to.match(/^dataDir +\S+ +flag --data-dir$/m);
    }
  });

  it('have more time to stop than the program takes', () => {
    const [, graceMs = ''] = /^const GRACE_MS = ([\d_]+);$/m.exec(read('adapters/platform/process/shutdown.ts')) ?? [];
    const seconds = Number(graceMs.replaceAll('_', '')) / 1000;
    expect(seconds).to.be.greaterThan(0);
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).to.be.greaterThan(seconds);
    for (const [name, { build, stop_grace_period }] of services)
      if (build) expect(Number(/^(\d+)s$/.exec(stop_grace_period ?? '')?.[1]), name).to.be.greaterThan(seconds);
  });

  it('copy only files that the context contains', () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, files = '']) =>
      files.split(' '),
    );
    expect(copied.length).to.be.greaterThan(3);
    expect(copied.filter((file) => !existsSync(join(ROOT, file)))).to.deep.equal([]);
    const ignored = read('.dockerignore').split('\n');
    for (const folder of ['bin', 'engines', 'web']) expect(ignored).not.to.include(folder);
    for (const excluded of ['deploy', '.git', '**/node_modules', '**/dist']) expect(ignored).to.include(excluded);
  });

  it('name only settings that exist', () => {
    const known = new Set(Object.entries(settings).flatMap(([key, setting]) => envNames(key, setting)));
    const paths = readdirSync(join(ROOT, 'deploy'), { recursive: true, encoding: 'utf8' }).map(
      (path) => `deploy/${path}`,
    );
    const texts = [...paths.filter((path) => /\.\w+$|file$/.test(path)), 'docs/deploying.md', 'docs/operating.md'].map(
      read,
    );
    const names = texts.flatMap((text) => [...text.matchAll(/\bANNALS_[A-Z_]+/g)].map(([name]) => name));
    expect(names).not.to.deep.equal([]);
    expect(names.filter((name) => !known.has(name))).to.deep.equal([]);
  });
});

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
}
interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
}

describe('alert rules, dashboard and health check', () => {
  const { groups }: Rules = parse(read('deploy/prometheus/alerts.yaml'));
  const { panels }: Dashboard = JSON.parse(read('deploy/grafana/annals.json'));
  const expressions = [
    ...groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => ({ name: alert, expr }))),
    ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ name: title, expr }))),
  ];

  it('use only metrics that a server exports, and it is healthy', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'annals-metrics-'));
    const server = await startServer(dataDir);
    try {
      const text = await (await fetch(`${server.urls.operations}/metrics`)).text();
      const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)];
      const series = types.flatMap(([, name = '', type]) =>
        type === 'histogram' ? ['_bucket', '_sum', '_count'].map((end) => name + end) : [name],
      );
      // `up` is the one that Prometheus adds.
      const exported = new Set(['up', ...series]);
      const unknown = ({ name, expr }: { name: string; expr: string }) =>
        metricsOf(expr).flatMap((metric) => (exported.has(metric) ? [] : [`${name}: ${metric}`]));
      expect(expressions.length).to.be.greaterThan(30);
      for (const { name, expr } of expressions) expect(metricsOf(expr), name).not.to.deep.equal([]);
      expect(expressions.flatMap(unknown)).to.deep.equal([]);

      const [, ...check] = execForm('HEALTHCHECK');
      const at = (origin: string) => check.map((each) => each.replace('http://127.0.0.1:3009', origin));
      expect(spawnSync(process.execPath, at(server.urls.operations ?? '')).status).to.equal(0);
      expect(spawnSync(process.execPath, at('http://127.0.0.1:9')).status).to.equal(1);
    } finally {
      await server.stop();
      await rm(dataDir, { recursive: true });
    }
  });

  it('use only labels of the metrics, or those that Prometheus adds', () => {
    const source = read('adapters/platform/observability/metrics.ts');
    const isKnown = (label: string) => ['job', 'instance', 'le'].includes(label) || source.includes(`'${label}'`);
    const labelsOf = (expr: string) => [
      ...[...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/, ?/)),
      ...[...expr.matchAll(/(\w+)(?:=~|!=|=)"/g)].map(([, label = '']) => label),
    ];
    const unknown = expressions.flatMap(({ name, expr }) =>
      labelsOf(expr).flatMap((label) => (isKnown(label) ? [] : [`${name}: ${label}`])),
    );
    expect(unknown).to.deep.equal([]);
  });
});

/** Names in an expression that are neither functions, labels, operators nor durations. */
function metricsOf(expr: string): string[] {
  const bare = expr.replaceAll(/\{[^}]*\}|\[[^\]]*\]|\bby \([^)]*\)/g, ' ');
  const names = [...bare.matchAll(/\b[a-z_]\w*\b(?! *\()/g)].map(([name]) => name);
  return names.filter((name) => !['and', 'or', 'unless', 'sum', 'max', 'min'].includes(name));
}
