/** `annals keys rotate`: rewraps all keys with a new secret. */
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
import { createCommandLogger, findStores } from './stores.js';

const FLAG = '--new-secret-file';

export const keys: CommandSpec = {
  description:
    'rotate puts a new secret in force and rewraps all keys in the key database with it; identifiers, tokens and ' +
    'encrypted data stay as they are. Without a configured secret it generates a new stored one, and running nodes ' +
    `pick it up by themselves. With a configured secret pass the new one with ${FLAG}, then configure it on ` +
    'every node and restart them: until then they answer 503 where they need a key they cannot unwrap. To go from ' +
    'a stored secret to a configured one, configure it and run this command. It can be interrupted at any time; run ' +
    'the same command again to continue.',
  examples: [
    ['keys rotate', 'a new generated secret, where none is configured'],
    [`keys rotate ${FLAG} /run/secrets/annals-new`, 'a new configured secret'],
  ],
  arguments: [new Argument('<what>', 'What to do').choices(['rotate'])],
  options: [new Option(`${FLAG} <path>`, 'File with the new secret')],
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
      const assertExclusive = () => {
        try {
          assertHeld();
        } catch (cause) {
          throw new UnavailableError('MongoDB was unavailable for too long; run the same command again to continue', {
            cause,
          });
        }
      };
      const {
        wrapped,
        unopened: undecryptable,
        isStored,
      } = await rotate(mongo.keys, {
        ...secretSource(values, servers, mongo.keys),
        next,
        fresh: randomBytes(32),
        logger,
        assertExclusive,
        progress: assertExclusive,
      });
      const nextStep = isStored ? '' : '; configure it on every node and restart them';
      process.stdout.write(`${wrapped} ${wrapped === 1 ? 'key' : 'keys'} rewrapped with the new secret${nextStep}\n`);
      const [first] = undecryptable;
      if (first === undefined) return 0;
      throw new Failed(
        `${undecryptable.length} keys cannot be unwrapped with any available secret, the first of them of ${first}`,
      );
    } catch (error) {
      if (!(error instanceof NoNewSecret)) throw error;
      throw new ConfigError(FLAG, 'is required to replace a configured secret');
    } finally {
      await lease?.release().catch(() => {});
      await mongo?.close();
      await servers.stop();
    }
  },
};

/** The lease of a killed rotation expires within this time; a running rotation renews its lease. */
const EXPIRY_MS = 2 * LEASE_MS;
const RETRY_MS = 250;

/** Waits for the lease of a killed rotation to expire; rejects with `Failed` while another rotation is running. */
async function acquireLease(leases: Leases): Promise<Lease> {
  const until = performance.now() + EXPIRY_MS;
  for (let isFirst = true; ; isFirst = false) {
    const lease = await leases.acquire('keys.rotate');
    if (lease) return lease;
    if (performance.now() > until) throw new Failed('another process is rotating the secret');
    if (isFirst) process.stderr.write(WAITING);
    await delay(RETRY_MS);
  }
}

const WAITING =
  'annals: another process is rotating the secret or was killed while doing so; waiting up to ' +
  `${EXPIRY_MS / 1000} s for its lease to expire\n`;

function newSecretIn(path: unknown): string | undefined {
  if (typeof path !== 'string') return undefined;
  let secret: string;
  try {
    secret = readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new ConfigError(FLAG, `must be a readable file: ${outsideCause(error)}`);
  }
  if (secret.length >= SECRET_CHARACTERS) return secret;
  throw new ConfigError(FLAG, `must be a file of at least ${SECRET_CHARACTERS} characters`);
}
