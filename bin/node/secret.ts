/** Finds the secret that wraps the keys: configured, or stored by the program. */
import { join, resolve } from 'node:path';
import type { Db } from 'mongodb';
import type { SecretSource } from '../../adapters/mongo/keys/key-store.js';
import { createStoredSecret } from '../../adapters/mongo/keys/keyring.js';
import { secretFile } from '../../adapters/platform/config/secret-file.js';
import type { AnnalsValues } from '../settings.js';
import type { Servers } from './locate-servers.js';

/** Without a configured secret: a file in the data directory, or with configured servers the `keys` database. */
export const secretSource = (
  { secret, dataDir }: Pick<AnnalsValues, 'secret' | 'dataDir'>,
  { kind }: Pick<Servers, 'kind'>,
  keys: Db,
): SecretSource => ({
  configured: secret,
  stored: kind === 'given' ? createStoredSecret(keys) : secretFile(join(resolve(dataDir), 'secret')),
});
