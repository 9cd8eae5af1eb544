/** The secret that wraps the keys: configured, or kept by the program. */
import { join, resolve } from 'node:path';
import type { Db } from 'mongodb';
import type { SecretSource } from '../../adapters/mongo/keys/key-store.js';
import { secretBesideKeys } from '../../adapters/mongo/keys/stored-secret.js';
import { secretFile } from '../../adapters/platform/config/secret-file.js';
import type { AnnalsValues } from '../settings.js';
import type { Servers } from './locate-servers.js';

/** Where none is configured it is kept in the data directory of the engines; with servers that are given, in `keys`. */
export const secretSource = (
  { secret, dataDir }: Pick<AnnalsValues, 'secret' | 'dataDir'>,
  { kind }: Pick<Servers, 'kind'>,
  keys: Db,
): SecretSource => ({
  given: secret,
  kept: kind === 'given' ? secretBesideKeys(keys) : secretFile(join(resolve(dataDir), 'secret')),
});
