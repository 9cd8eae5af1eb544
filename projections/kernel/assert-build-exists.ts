/** Detects that a build was dropped during a read, which would look like missing rows. */
import type { Db } from 'mongodb';
import { UnavailableError } from '../../application/ports/index.js';

/**
 * Throws `UnavailableError` if a build does not exist (any more): this node has not yet received the switch event. Call
 * it after reading a build, before using the result. The main collection of a build is created first and dropped first.
 */
export async function assertBuildExists(db: Db, build: string | undefined): Promise<void> {
  const collections = await db.listCollections({ name: build }, { nameOnly: true }).toArray();
  if (collections.length === 0) throw new UnavailableError(`build ${build} was dropped; try again`);
}
