/** Settings: their sources, and which values are refused. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig, type Sources } from '../../adapters/platform/config/config.js';
import { ConfigError } from '../../adapters/platform/config/config-error.js';
import { MASK, maskCredentials, maskEntry } from '../../adapters/platform/config/mask.js';
import { envName, flagName } from '../../adapters/platform/config/setting-names.js';
import type { Rule, Settings } from '../../application/config/setting.js';
import { settings as programSettings, rulesOf, serviceNames } from '../../bin/settings.js';

const settings = {
  dataDir: { type: 'string', default: './data', description: '' },
  'toys.port': { type: 'integer', minimum: 0, maximum: 65535, default: 3100, description: '' },
  'toys.createPerHour': { type: 'integer', minimum: 1, default: 30, description: '' },
  'toys.origins': { type: 'array', items: { type: 'string' }, default: ['*'], description: '' },
  'toys.open': { type: 'boolean', default: false, description: '' },
  'toys.secret': { type: 'string', minLength: 8, secret: true, description: '' },
  'toys.template': { type: 'function', description: '' },
  'toys.colour': {
    type: 'string',
    enum: ['red', 'blue'],
    description: '',
    alias: { env: 'TOY_COLOUR', flag: '--toyColour' },
  },
  'eventStore.url': { type: 'string', pattern: '^esdb://', description: '' },
} as const satisfies Settings;

const notBoth: Rule<typeof settings> = (values) =>
  values['toys.open'] && values['toys.port'] === 80
    ? { key: 'toys.open', reason: 'must not be true on port 80' }
    : undefined;

describe('settings', () => {
  const refusal = async (
    env: { [name: string]: string },
    served: Parameters<typeof rulesOf>[0] = serviceNames,
  ): Promise<string> => {
    const loaded = loadConfig(programSettings, { flags: {}, env, directory: '/nowhere' }, rulesOf(served));
    return loaded.then(
      () => 'nothing was refused',
      (error) => error.message,
    );
  };
  const producers = (list: readonly object[], more = {}) =>
    refusal({ ANNALS_LOGS_PRODUCERS: JSON.stringify(list), ...more });
  const from = '(environment: ANNALS_LOGS_PRODUCERS)';

  it('report errors inside a list, without tokens', async () => {
    expect(await producers([{ id: 'web', token: 'long-enough' }])).to.equal('nothing was refused');
    expect(
      await producers([
        { id: 'web', token: 'long-enough' },
        { id: 'app', token: 's3cret' },
      ]),
    ).to.equal(`logs.producers[1].token must be at least 8 visible ASCII characters ${from}`);
    expect(await producers([{ token: 'long-enough' }])).to.equal(`logs.producers[0] needs id ${from}`);
    expect(await producers([{ id: 'a b', token: 'long-enough' }])).to.match(/^logs\.producers\[0\]\.id must /);
    expect(await refusal({ ANNALS_LOGS_PRODUCERS: 'long-enough' })).to.equal(
      `logs.producers[0] must be an object ${from}`,
    );
  });

  it('refuse the same token for two producers', async () => {
    const token = 'long-enough';
    const both = await producers([
      { id: 'web', token },
      { id: 'app', token },
    ]);
    expect(both).to.equal(`logs.producers must not give web and app the same token ${from}`);
    expect(await producers([{ id: 'web', token }], { ANNALS_LOGS_API_TOKEN: token })).to.equal(
      `logs.producers must not give web the same token as logs.apiToken ${from}`,
    );
  });

  it('refuse tokens that no header can carry, such as one with a newline', async () => {
    for (const token of ['long enough', 'längst-lang-genug']) {
      expect(await producers([{ id: 'web', token }])).to.match(/^logs\.producers\[0\]\.token must be /);
      expect(await refusal({ ANNALS_LOGS_API_TOKEN: token })).to.match(/^logs\.apiToken must be /);
      const operations = await refusal({ ANNALS_OPERATIONS_TOKEN: `${token}${token}` });
      expect(operations).to.match(/^operations\.token must be at least 16 visible ASCII characters/);
    }
  });

  it('require credentials for services open to other machines only if these run', async () => {
    const everywhere = { ANNALS_HOST: '0.0.0.0' };
    const withToken = { ...everywhere, ANNALS_LOGS_API_TOKEN: 'long-enough' };
    expect(await refusal(everywhere, ['logs'])).to.match(/^logs\.apiToken must be set when listening beyond loopback/);
    expect(await refusal(withToken, ['chat', 'logs'])).to.match(/^auth\.authMode must not be dev on a host/);
    expect(await refusal(withToken, ['logs', 'rooms'])).to.equal('nothing was refused');
    expect(await refusal(everywhere, ['rooms'])).to.equal('nothing was refused');
    expect(await refusal(everywhere, [])).to.equal('nothing was refused');
  });

  it('name the missing half of a pair', async () => {
    expect(await refusal({ ANNALS_LOGS_BASIC_USERNAME: 'ann' })).to.equal(
      'logs.basic.password must be set together with logs.basic.username',
    );
    expect(await refusal({ ANNALS_LOGS_BASIC_PASSWORD: 'ann' })).to.equal(
      'logs.basic.username must be set together with logs.basic.password',
    );
    expect(await refusal({ ANNALS_HOST: '0.0.0.0' }, ['logs'])).to.equal(
      'logs.apiToken must be set when listening beyond loopback, unless --allow-open is given',
    );
    expect(await refusal({ ANNALS_MONGO_URL: 'mongodb://h' })).to.match(/^eventStore\.url is required as well/);
  });

  it('accept only complete addresses and origins', async () => {
    for (const url of ['x', 'http://', 'ftp://a.example', 'javascript:x'])
      expect(await refusal({ ANNALS_LOGS_APP_URL: url }), url).to.match(/^logs\.appUrl must be an http or https URL/);
    for (const origin of ['https://a.example/', 'a.example', 'https://a.example/x', 'null'])
      expect(await refusal({ ANNALS_ROOMS_ALLOWED_ORIGINS: origin }), origin).to.match(
        /^rooms\.allowedOrigins must list origins such as /,
      );
    for (const host of ['not a host!', 'http://a', 'a/b', '[::1]'])
      expect(await refusal({ ANNALS_HOST: host }), host).to.match(/^host must be an address or a name/);
    for (const host of ['localhost', '127.0.0.2', '::1', 'fe80::1%lo', 'my_box-1.lan'])
      expect(await refusal({ ANNALS_HOST: host }, []), host).to.equal('nothing was refused');
    const fine = { ANNALS_LOGS_APP_URL: 'https://a.example/x', ANNALS_LOGS_ALLOWED_ORIGINS: 'http://a:80,*' };
    expect(await refusal(fine)).to.equal('nothing was refused');
  });
});

describe('configuration', () => {
  let directory: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'annals-config-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const load = (sources: Partial<Sources> = {}) =>
    loadConfig(settings, { flags: {}, env: {}, directory, ...sources }, [notBoth]);
  const write = (name: string, text: string) => writeFile(join(directory, name), text);
  const refusal = (sources: Partial<Sources> = {}): Promise<string> =>
    load(sources).then(
      () => 'nothing was refused',
      (error) => {
        expect(error).to.be.instanceOf(ConfigError);
        expect(error.message).not.to.include('\n');
        return error.message;
      },
    );

  it('names a setting in three ways by one rule', () => {
    expect(envName('toys.createPerHour')).to.equal('ANNALS_TOYS_CREATE_PER_HOUR');
    expect(flagName('toys.createPerHour')).to.equal('--toys-create-per-hour');
    expect(envName('dataDir')).to.equal('ANNALS_DATA_DIR');
    expect(flagName('eventStore.url')).to.equal('--event-store-url');
  });

  it('has defaults for everything', async () => {
    const { values, file } = await load();
    expect(values['toys.port']).to.equal(3100);
    expect(values['toys.secret']).to.equal(undefined);
    expect(file).to.equal(undefined);
  });

  it('prefers flags over environment over file over default, and reports the origin', async () => {
    await write(
      'annals.config.mjs',
      `export default { toys: { port: 1, createPerHour: 1, origins: ['https://a.example'] }, 'toys.open': true };`,
    );
    const { values, entries, file } = await load({
      flags: { '--toys-port': '3' },
      env: { ANNALS_TOYS_PORT: '2', ANNALS_TOYS_CREATE_PER_HOUR: '2', HOME: '/root' },
    });
    expect(values).to.deep.include({
      'toys.port': 3,
      'toys.createPerHour': 2,
      'toys.origins': ['https://a.example'],
      'toys.open': true,
      dataDir: './data',
    });
    expect(Object.fromEntries(entries.map(({ key, origin }) => [key, origin.name ?? origin.from]))).to.include({
      'toys.port': '--toys-port',
      'toys.createPerHour': 'ANNALS_TOYS_CREATE_PER_HOUR',
      'toys.origins': file,
      dataDir: 'default',
    });
    expect(file).to.equal(join(directory, 'annals.config.mjs'));
  });

  it('parses lists, booleans and aliases from text', async () => {
    const { values } = await load({
      env: { ANNALS_TOYS_ORIGINS: 'https://a.example, https://b.example', TOY_COLOUR: 'blue' },
      flags: { '--toys-open': 'true' },
    });
    expect(values['toys.origins']).to.deep.equal(['https://a.example', 'https://b.example']);
    expect(values['toys.open']).to.equal(true);
    expect(values['toys.colour']).to.equal('blue');
    expect((await load({ flags: { '--toyColour': 'red', '--toys-origins': '["a,b"]' } })).values).to.deep.include({
      'toys.colour': 'red',
      'toys.origins': ['a,b'],
    });
  });

  it('accepts functions from a module, and JSON from a JSON file', async () => {
    await write('annals.config.js', 'export default { toys: { template: () => "hello" } };');
    expect((await load()).values['toys.template']?.()).to.equal('hello');
    await write('other.json', '{"toys":{"port":5}}');
    expect((await load({ file: 'other.json' })).values['toys.port']).to.equal(5);
    expect((await load({ file: join(directory, 'other.json') })).values['toys.port']).to.equal(5);
    // Some editors save a byte order mark.
    await write('other.json', '\uFEFF{"toys":{"port":6}}');
    expect((await load({ file: 'other.json' })).values['toys.port']).to.equal(6);
  });

  it('refuses an unknown key and names its origin', async () => {
    expect(await refusal({ env: { ANNALS_TOYS_PRT: '1' } })).to.equal(
      'ANNALS_TOYS_PRT is not a setting; did you mean ANNALS_TOYS_PORT? (in the environment)',
    );
    expect(await refusal({ flags: { '--nothing-like-it-at-all': '1' } })).to.equal(
      '--nothing-like-it-at-all is not a setting (in the flag)',
    );
    await write('annals.config.json', '{"toys":{"prot":1}}');
    expect(await refusal()).to.equal(
      `toys.prot is not a setting; did you mean toys.port? (file: ${join(directory, 'annals.config.json')})`,
    );
    await write('annals.config.json', '{"__proto__":{"port":1}}');
    expect(await refusal()).to.match(/^__proto__ is not a setting/);
    await write('annals.config.json', '{"toys":3}');
    expect(await refusal()).to.match(/^toys is not a setting/);
  });

  it('refuses a wrong type or range in one line that names key and origin, never the value', async () => {
    expect(await refusal({ flags: { '--toys-port': 'http' } })).to.equal(
      'toys.port must be an integer from 0 to 65535 (flag: --toys-port)',
    );
    expect(await refusal({ env: { ANNALS_TOYS_PORT: '65536' } })).to.equal(
      'toys.port must be an integer from 0 to 65535 (environment: ANNALS_TOYS_PORT)',
    );
    expect(await refusal({ env: { ANNALS_TOYS_OPEN: 'yes' } })).to.match(/^toys.open must be true or false /);
    expect(await refusal({ env: { TOY_COLOUR: 'green' } })).to.equal(
      'toys.colour must be one of red, blue (environment: TOY_COLOUR)',
    );
    expect(await refusal({ flags: { '--toys-template': 'x' } })).to.match(/^toys.template must be a function/);
    const short = await refusal({ env: { ANNALS_TOYS_SECRET: 's3cr3t' } });
    expect(short).to.match(/^toys.secret must be a text of at least 8 characters/);
    expect(short).not.to.include('s3cr3t');
    for (const wrong of ['"80"', '1.5', 'null', '[80]']) {
      await write('annals.config.json', `{"toys":{"port":${wrong}}}`);
      expect(await refusal(), wrong).to.match(/^toys.port must be an integer from 0 to 65535 \(file: /);
    }
  });

  it('refuses an unsafe combination and names the key', async () => {
    expect(await refusal({ flags: { '--toys-port': '80' }, env: { ANNALS_TOYS_OPEN: 'true' } })).to.equal(
      'toys.open must not be true on port 80 (environment: ANNALS_TOYS_OPEN)',
    );
  });

  it('refuses a missing or invalid file', async () => {
    expect(await refusal({ file: 'none.mjs' })).to.equal(
      `${join(directory, 'none.mjs')} does not exist (flag: --config)`,
    );
    await write('annals.config.json', '{"toys":');
    expect(await refusal()).to.match(/annals\.config\.json cannot be read: /);
    await write('annals.config.json', '[]');
    expect(await refusal()).to.match(/annals\.config\.json is not an object$/);
    await write('broken.mjs', 'throw new Error("line one\\nline two")');
    expect(await refusal({ file: 'broken.mjs' })).to.match(/broken\.mjs cannot be read: line one line two$/);
    await write('empty.mjs', 'export const port = 1;');
    expect(await refusal({ file: 'empty.mjs' })).to.match(/has no object as its default export$/);
  });

  it('masks secrets, and credentials in addresses', async () => {
    const { entries } = await load({
      env: {
        ANNALS_TOYS_SECRET: 'very secret',
        ANNALS_EVENT_STORE_URL: 'esdb://ann:p@ss/w@store:2113?tls=false',
      },
    });
    const shown = Object.fromEntries(entries.map((entry) => [entry.key, maskEntry(entry)]));
    expect(shown['toys.secret']).to.equal(MASK);
    expect(shown['eventStore.url']).to.equal(`esdb://${MASK}@store:2113?tls=false`);
    expect(shown['toys.port']).to.equal(3100);
    expect(maskCredentials('esdb://h:1?tls=false&connectionName=abc&a=1')).to.equal(
      `esdb://h:1?tls=false&connectionName=${MASK}&a=1`,
    );
    expect(maskCredentials('mongodb://h/x?replicaSet=a&appName=annals-abc')).to.equal(
      `mongodb://h/x?replicaSet=a&appName=${MASK}`,
    );
    expect(maskCredentials('mongodb://h/x?tlsCertificateKeyFilePassword=abc&a=1')).to.equal(
      `mongodb://h/x?tlsCertificateKeyFilePassword=${MASK}&a=1`,
    );
  });
});
