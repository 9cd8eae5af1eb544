/**
 * Puts another secret in force, and wraps all keys anew under it.
 *
 * In this order, so that a crash between any two steps leaves every key open to the former or the new secret, and the
 * same command goes on: the former secret is wrapped under the new one (from here on the new one opens everything);
 * where the program keeps the secret itself, the new one takes the place of the former; the installation's key is
 * wrapped anew (from here on a start with the former is refused); then all others. Nothing that was derived changes:
 * identifiers and tokens come from the installation's key, which stays what it was under its new wrapping.
 */
import type { Collection, Db } from 'mongodb';
import type { Logger } from '../../../application/ports/index.js';
import { newSecret, WrongSecret } from '../../crypto/wrapping.js';
import { findKey, INSTALLATION, KEYS, type KeyRow } from './key-rows.js';
import { openKeys, type SecretSource } from './key-store.js';
import { keyringOf, link } from './keyring.js';
import { type Wrapped, wrapAll, wrapOne } from './rewrap-keys.js';

/** The secret in force is configured, and no other one was given to take its place. */
export class NoNewSecret extends Error {
  override readonly name = 'NoNewSecret';
}

export interface RotationOptions extends SecretSource {
  /** The new secret; without it a configured one that is not in force yet, else a fresh one where it is kept. */
  readonly next?: string | undefined;
  readonly fresh: Buffer;
  readonly logger: Logger;
  readonly progress?: (wrapped: number) => void;
  /** Throws when another process may be rotating too: what follows would take the place of the secret it kept. */
  readonly assertAlone?: () => void;
}

export interface Rotated extends Wrapped {
  /** Whether the program keeps the new secret itself; else it is for the configuration of every node. */
  readonly isKept: boolean;
}

/** Rejects with `WrongSecret` when none of the secrets at hand opens the keys, and with `NoNewSecret`. */
export async function rotate(db: Db, options: RotationOptions): Promise<Rotated> {
  const { given, kept, progress, assertAlone } = options;
  const rows = db.collection<KeyRow>(KEYS);
  if (!(await nameInForce(rows))) await openKeys(db, options, options.fresh, options.logger);
  const inForce = await nameInForce(rows);
  const keptSecret = await kept.read();
  const next = options.next ?? (await chosen(db, inForce, given, keptSecret));

  let former: string | undefined;
  for (const secret of [next, given, keptSecret])
    if (!former && secret && (await keyringOf(db, secret)).known.has(inForce)) former = secret;
  if (!former)
    throw new WrongSecret('no secret at hand is the one that the keys of this installation are wrapped under');

  let ring = await keyringOf(db, next);
  if (!ring.known.has(inForce)) {
    assertAlone?.();
    await link(db, former, ring.current);
    ring = await keyringOf(db, next);
  }
  const isKept = given === undefined;
  // What another rotation has kept meanwhile is the only thing that opens the keys by now.
  if (!ring.known.has(await nameInForce(rows))) throw new WrongSecret(OVERTAKEN);
  assertAlone?.();
  if (isKept) await kept.replace(next);
  const first = await wrapOne(rows, ring, INSTALLATION);
  const others = await wrapAll(rows, ring, undefined, (wrapped) => progress?.(first.wrapped + wrapped));
  // It opens nothing any more that the configured one does not.
  if (!isKept && keptSecret !== undefined) await kept.remove();
  return { wrapped: first.wrapped + others.wrapped, unopened: others.unopened, isKept };
}

const OVERTAKEN = 'another process has put its own secret in force meanwhile: nothing is left to be done';

/** The name of the secret that the installation's key is wrapped under. */
const nameInForce = async (rows: Collection<KeyRow>): Promise<string> =>
  (await rows.findOne({ _id: INSTALLATION }))?.under ?? '';

/** What takes the place of the secret in force when none is named. */
async function chosen(db: Db, inForce: string, given: string | undefined, kept: string | undefined): Promise<string> {
  if (given === undefined) return newSecret();
  const ring = await keyringOf(db, given);
  const isNew = ring.current.id !== inForce;
  if (isNew || kept !== undefined) return given;
  const isUnfinished = await findKey(db.collection<KeyRow>(KEYS), ({ under }) => under !== ring.current.id);
  if (isUnfinished) return given;
  throw new NoNewSecret('the configured secret is in force: the new one must be named');
}
