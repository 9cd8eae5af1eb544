/** The command line: accepted arguments and errors. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { COMPILER_FLAGS } from '@annals/engines/testing/children.js';
import { expect } from 'chai';

const CHECKOUT = fileURLToPath(new URL('../../../', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../../bin/annals.js', import.meta.url));

/** A module that reports at exit which drivers and stores the program has loaded. */
const TELLING = `data:text/javascript,${encodeURIComponent(
  `import { createRequire } from 'node:module';
   const { cache } = createRequire(process.execPath);
   process.on('exit', () => {
     const heavy = Object.keys(cache).flatMap((path) => path.match(/node_modules.(mongodb|@eventstore|lmdb|koa)\\b/)?.[1] ?? []);
     process.stderr.write(JSON.stringify([...new Set(heavy)].sort()));
   });`,
)}`;

/** A module that reports Node's options. */
const TOLD = `data:text/javascript,${encodeURIComponent('process.stderr.write(process.execArgv.join())')}`;

describe('the command line', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'annals-cli-'));
  });
  after(() => rm(directory, { recursive: true }));

  async function annals(args: readonly string[], env: { [name: string]: string } = {}) {
    const child = spawn(process.execPath, [...COMPILER_FLAGS, PROGRAM, ...args], {
      cwd: directory,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { out, err, code };
  }

  it('shows its help without arguments, with commands and exit codes', async () => {
    const { out, code } = await annals([]);
    expect(code).to.equal(0);
    expect(out).to.match(/^Usage: annals /);
    expect(out.replaceAll(/\s+/g, ' ')).to.match(/chat, meetings, web analytics, log records and encrypted rooms/);
    expect(out).to.match(/^ {2}config .*Show the effective configuration/m);
    expect(out).to.include('Exit codes: 0 success, 1 the command failed, 2 ');
  });

  it('prints its version', async () => {
    expect(await annals(['--version'])).to.deep.include({ code: 0, err: '' });
    expect((await annals(['-V'])).out).to.match(/^\d+\.\d+\.\d+\n$/);
  });

  it('sets the size of the young generation in every script that starts it', async () => {
    const env = { ...process.env, NODE_OPTIONS: `--import ${TOLD}` };
    const { scripts } = JSON.parse(await readFile(join(CHECKOUT, 'package.json'), 'utf8'));
    for (const command of [scripts.annals, scripts.start]) {
      const child = spawn(`${command} --help`, { shell: true, cwd: CHECKOUT, env });
      expect(await text(child.stderr), command).to.equal('--max-semi-space-size=32');
    }
  });

  it('loads no driver or store for commands that need none', async () => {
    const env = { NODE_OPTIONS: `--import ${TELLING}` };
    const loaded = async (...args: string[]) => JSON.parse((await annals(args, env)).err.split('\n').at(-1) ?? '');
    expect(await loaded('scavenge', '--data-dir', join(directory, 'none'))).to.include('@eventstore');
    await Promise.all(
      [['--version'], ['--help'], ['help', 'logs'], ['config'], ['erase', 'user', 'x']].map(async (args) =>
        expect(await loaded(...args), args.join(' ')).to.deep.equal([]),
      ),
    );
  });

  it('shows the help of a command in both forms', async () => {
    const [flag, command, within] = await Promise.all([
      annals(['logs', 'query', '--help']),
      annals(['help', 'logs', 'query']),
      annals(['logs', 'help', 'query']),
    ]);
    expect(flag.out).to.include('annals logs query');
    expect([command.out, within.out]).to.deep.equal([flag.out, flag.out]);
  });

  it('lists commands in one line for an unknown one, also with --help', async () => {
    const unknown = async (...args: string[]) => {
      const { out, err, code } = await annals(args);
      expect([out, code], args.join(' ')).to.deep.equal(['', 2]);
      return err;
    };
    const outputs = [['confg'], ['confg', '--help'], ['help', 'confg']].map((args) => unknown(...args));
    const listed =
      /^annals: unknown command 'confg', it must be one of serve, .*, analytics, help; did you mean config\?\n$/;
    for (const err of await Promise.all(outputs)) expect(err).to.match(listed);
    const within = [
      ['logs', 'qury'],
      ['help', 'logs', 'qury'],
      ['logs', 'help', 'qury'],
    ];
    for (const err of await Promise.all(within.map((args) => unknown(...args))))
      expect(err).to.match(/^annals: unknown command 'qury', .* query, aggregate, tail, import.*\n$/);
  });

  it('accepts every setting as a flag, grouped in the help of commands that read all of them', async () => {
    for (const command of ['config', 'serve']) {
      const { out } = await annals([command, '--help']);
      expect(out).to.match(/^Settings, rooms:\n {2}--rooms-port <integer> /m);
      expect(out).to.match(/^Settings, chat:\n {2}--chat-port <integer> /m);
      expect(out).to.match(new RegExp(`^Examples:\\n {2}annals ${command} `, 'm'));
    }
    expect((await annals(['logs', 'query', '--chat-port', 'many'])).err).to.match(/chat\.port must be/);
  });

  it('lists only its own settings in the help of a command', async () => {
    const sections = async (...args: string[]) => {
      const { out, code } = await annals([...args, '--help']);
      expect(code).to.equal(0);
      return Array.from(out.matchAll(/^Settings, (.+):$/gm), ([, section]) => section);
    };
    const common = [
      'general',
      'eventStore',
      'mongo',
      'mesh',
      'operations',
      'log',
      'telemetry',
      'audit',
      'backup',
      'server',
    ];
    expect(await sections('serve', 'meeting')).to.deep.equal([...common, 'meeting']);
    expect(await sections('serve', 'chat', 'rooms')).to.deep.equal([
      ...common,
      'chat',
      'auth',
      'email',
      'oauth',
      'rooms',
    ]);
    expect(await sections('logs', 'query')).to.deep.equal(['general', 'logs']);
    expect(await sections('replay')).to.deep.equal(['general', 'eventStore', 'mongo', 'log']);
    expect(await sections('analytics', 'import'))
      .to.include('analytics')
      .and.not.include('chat');
    expect(await sections('engines')).to.deep.equal(['general', 'log']);
    const { out } = await annals(['logs', 'query', '--help']);
    expect(out)
      .to.include('--logs-port')
      .and.not.match(/--logs-retention-days|--data-dir|--secret/);
  });

  it('prints the configuration with the origin of each value', async () => {
    await writeFile(join(directory, 'annals.config.json'), '{"rooms":{"createPerHour":5}}');
    const { out, code } = await annals(['config', '--rooms-port', '8004'], { ANNALS_HOST: '::1' });
    await rm(join(directory, 'annals.config.json'));
    expect(code).to.equal(0);
    expect(out).to.match(/^rooms\.port +8004 +flag --rooms-port$/m);
    expect(out).to.match(/^host +::1 +environment ANNALS_HOST$/m);
    expect(out).to.match(/^rooms\.createPerHour +5 +file$/m);
    expect(out).to.match(/^dataDir +\.\/data +default$/m);
    expect(out).to.match(/^logs\.producers +\[\] +default$/m);
  });

  it('prints no secret in any form', async () => {
    const env = {
      ANNALS_OPERATIONS_TOKEN: 's3cret-s3cret-s3cret',
      ANNALS_EVENT_STORE_URL: 'esdb://ann:s3cret@h:2113?tls=false',
      ANNALS_MONGO_URL: 'mongodb://ann:s3cret@h/?password=s3cret',
    };
    const [table, json] = await Promise.all([annals(['config'], env), annals(['config', '--json'], env)]);
    expect(table.out + json.out + table.err + json.err).not.to.include('s3cret');
    const { settings } = JSON.parse(json.out);
    const token = settings.find(({ key }: { key: string }) => key === 'operations.token');
    expect(token).to.include({
      value: '********',
      environment: 'ANNALS_OPERATIONS_TOKEN',
      flag: '--operations-token',
    });
    expect(token.origin).to.deep.equal({ from: 'environment', name: 'ANNALS_OPERATIONS_TOKEN' });
  });

  it('does not create a data directory for reading and reports in one line that there is none', async () => {
    const missing = join(directory, 'nowhere');
    const empty = join(directory, 'empty');
    await mkdir(empty);
    const refused = async (place: string, ...args: string[]) => {
      const { out, err, code } = await annals([...args, '--data-dir', place]);
      expect([out, code], args.join(' ')).to.deep.equal(['', 1]);
      expect(err).to.equal(
        `annals: there is no data in ${place}: start "annals serve" there or pass another --data-dir\n`,
      );
    };
    await Promise.all([
      ...['replay', 'reindex', 'scavenge'].map((command) => refused(missing, command)),
      refused(empty, 'reindex', '--list'),
      refused(missing, 'backup', join(directory, 'copy')),
      annals(['config', '--data-dir', missing]),
      annals(['logs', 'query', '--url', 'http://127.0.0.1:1', '--data-dir', missing]),
    ]);
    expect(await readdir(directory)).to.deep.equal(['empty']);
    expect(await readdir(empty)).to.deep.equal([]);
  }).timeout(120_000);

  it('reports in one line that the event store is unavailable for a scavenge', async () => {
    const away = ['--event-store-url', 'esdb://127.0.0.1:1?tls=false', '--mongo-url', 'mongodb://127.0.0.1:1'];
    const { code, err } = await annals(['scavenge', ...away]);
    expect(code).to.equal(1);
    expect(err).to.match(/^annals: the event store is away[^\n]*\n$/);
  });

  it('erases nothing without a terminal for confirmation, unless --yes is given', async () => {
    for (const [what, which] of [
      ['user', 'ada@example.org'],
      ['meeting', 'ABC234'],
    ] as const) {
      const err = 'annals: --yes is required without a terminal to ask for confirmation\n';
      expect(await annals(['erase', what, which])).to.deep.equal({ code: 2, out: '', err });
      expect((await annals(['erase', what, '--help'])).out).to.match(/--yes .*Erase without confirmation/);
    }
  });

  it('refuses an invalid configuration with one line and exit code 2', async () => {
    const cases: [string[], { [name: string]: string }, RegExp][] = [
      [['config', '--rooms-port', '70000'], {}, /^annals: rooms\.port must be an integer from 0 to 65535 .*\n$/],
      [['config', '--rooms-prt', '1'], {}, /^annals: unknown option '--rooms-prt' .*--rooms-port.*\n$/],
      [['config', '--rooms-port'], {}, /^annals: option '--rooms-port <integer>' argument missing\n$/],
      [
        ['config'],
        { ANNALS_ROOM_PORT: '1' },
        /^annals: ANNALS_ROOM_PORT is not a setting; did you mean ANNALS_ROOMS_PORT\?.*\n$/,
      ],
      [
        ['config', '--event-store-url', 'http://h:2113'],
        {},
        /^annals: eventStore\.url must be an address like esdb:\/\/host:2113 .*\n$/,
      ],
      [['config'], { ANNALS_MONGO_URL: 'h' }, /^annals: mongo\.url must be an address like mongodb:\/\/host\/ .*\n$/],
      [['config', '--mongo-database', 'a.b'], {}, /^annals: mongo\.database must be 1 to 38 letters.*\n$/],
      [['replay', '--from', 'last week 1'], {}, /^annals: option '--from <time>' .*ISO 8601.*\n$/],
      [['replay', '--to', '2026-02-30'], {}, /^annals: option '--to <time>' .*ISO 8601.*\n$/],
      [['replay', '--type', 'RoomBurnt'], {}, /^annals: option '--type .* RoomBurned\?\n$/],
      [['erase', 'meeting', 'room'], {}, /^annals: .*'roomId'.* six characters of A-Z and 0-9\.\n$/],
      [['analytics', 'seed', '--days', '0x10'], {}, /^annals: option '--days .* between 1 and \d+\.\n$/],
      [['scavenge', 'all'], {}, /^annals: too many arguments .*\n$/],
      [['replay', '--position', 'abc'], {}, /^annals: option '--position <n>' .*log position\.\n$/],
      [['logs', 'query', '--from', '1x'], {}, /^annals: option '--from <time>' .*ISO 8601.*\n$/],
      [['reindex', '--check', '--list'], {}, /^annals: option '--list' cannot be used with option '--check'\n$/],
      [['config', '--config', 'none.mjs'], {}, /^annals: .*none\.mjs does not exist .*\n$/],
      [
        ['keys', 'rotate', '--new-secret-file', 'none'],
        {},
        /^annals: --new-secret-file must be a readable file: none: .*ENOENT.*\n$/,
      ],
      [['logs', 'query', '--limit', 'all'], {}, /^annals: option .*--limit.* must be a whole number.*\n$/i],
      [
        ['config', '--server-trusted-proxies', 'proxy'],
        {},
        /^annals: server\.trustedProxies must be a list of addresses.*\n$/,
      ],
      [
        ['config', '--rooms-min-ttl-ms', '90000000'],
        {},
        /^annals: rooms\.minTtlMs must be at most rooms\.maxTtlMs .*\n$/,
      ],
    ];
    await Promise.all(
      cases.map(async ([args, env, expected]) => {
        const { out, err, code } = await annals(args, env);
        expect([out, code], err).to.deep.equal(['', 2]);
        expect(err).to.match(expected);
      }),
    );
  });
});
