/** `annals keys rotate`: another secret for the keys. */
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Argument, Option } from 'commander';
import { SECRET_CHARACTERS } from '../../adapters/crypto/wrapping.js';
import { connectMongo, type Mongo } from '../../adapters/mongo/client.js';
import { createLeases, LEASE_MS } from '../../adapters/mongo/coordination/leases.js';
import { NoNewSecret, rotate } from '../../adapters/mongo/keys/rotate.js';
import { ConfigError } from '../../adapters/platform/config/config-error.js';
import { type Lease, type Leases, UnavailableError } from '../../application/ports/index.js';
import { secretSource } from '../node/secret.js';
import type { Call, CommandSpec } from './command.js';
import { Failed, outsideCause } from './failure.js';
import { createCommandLogger } from './logger.js';
import { findStores } from './stores.js';

const FLAG = '--new-secret-file';

export const keys: CommandSpec = {
  description:
    'rotate puts another secret in force and wraps every key in the key database anew under it; identifiers, tokens ' +
    'and all that is sealed stay as they are. Without a configured secret a fresh one takes the place of the one ' +
    'that the program keeps, and running nodes take it up by themselves. With a configured one name the new one by ' +
    `${FLAG}, then configure it on every node and restart them: until then they answer 503 where they need a key ` +
    'that they do not hold. To go from a kept secret to a configured one, configure it and run this. It may be cut ' +
    'short at any moment; the same command goes on.',
  examples: [
    ['keys rotate', 'a fresh secret where none is configured'],
    [`keys rotate ${FLAG} /run/secrets/annals-new`, 'another one than is configured'],
  ],
  arguments: [new Argument('<what>', 'What to do').choices(['rotate'])],
  options: [new Option(`${FLAG} <path>`, 'File whose text is the new secret')],
  async run({ config: { values }, options }: Call) {
    const next = newSecretIn(options.newSecretFile);
    const logger = createCommandLogger(values);
    const servers = await findStores(values, logger);
    let mongo: Mongo | undefined;
    let lease: Lease | undefined;
    try {
      mongo = await connectMongo(servers.mongoUrl, values['mongo.database']);
      lease = await acquireLease(createLeases(mongo.models, randomUUID()));
      const { assertHeld } = lease;
      const assertAlone = () => {
        try {
          assertHeld();
        } catch (cause) {
          throw new UnavailableError('MongoDB was away for too long; the same command goes on', { cause });
        }
      };
      const { wrapped, unopened, isKept } = await rotate(mongo.keys, {
        ...secretSource(values, servers, mongo.keys),
        next,
        fresh: randomBytes(32),
        logger,
        assertAlone,
        progress: assertAlone,
      });
      const then = isKept ? '' : '; configure it on every node, and restart them';
      process.stdout.write(`${wrapped} ${wrapped === 1 ? 'key' : 'keys'} wrapped anew, under the new secret${then}\n`);
      const [first] = unopened;
      if (first === undefined) return 0;
      throw new Failed(`${unopened.length} keys are opened by no secret at hand, the first of them that of ${first}`);
    } catch (error) {
      if (!(error instanceof NoNewSecret)) throw error;
      throw new ConfigError(FLAG, 'must name the new secret, since a configured one is in force');
    } finally {
      await lease?.release().catch(() => {});
      await mongo?.close();
      await servers.stop();
    }
  },
};

/** The lease of a rotation that was killed lapses within this time; a rotation that goes on keeps its lease. */
const LAPSE_MS = 2 * LEASE_MS;
const LOOK_AGAIN_MS = 250;

/** Waits for the lease that a rotation which was killed has left; rejects with `Failed` while another one goes on. */
async function acquireLease(leases: Leases): Promise<Lease> {
  const until = performance.now() + LAPSE_MS;
  for (let isFirst = true; ; isFirst = false) {
    const lease = await leases.acquire('keys.rotate');
    if (lease) return lease;
    if (performance.now() > until) throw new Failed('another process is rotating the secret');
    if (isFirst) process.stderr.write(WAITING);
    await delay(LOOK_AGAIN_MS);
  }
}

const WAITING =
  'annals: another process is rotating the secret, or was killed at it: waiting up to ' +
  `${LAPSE_MS / 1000} s for its lease to lapse\n`;

function newSecretIn(path: unknown): string | undefined {
  if (typeof path !== 'string') return undefined;
  let secret: string;
  try {
    secret = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new ConfigError(FLAG, `must name a file that can be read: ${outsideCause(error)}`);
  }
  if (secret.length >= SECRET_CHARACTERS) return secret;
  throw new ConfigError(FLAG, `must name a file of ${SECRET_CHARACTERS} characters or more`);
}
