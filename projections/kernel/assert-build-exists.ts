/** A build that is dropped while somebody reads it looks like one with less in it, or nothing: here the two are told apart. */
import type { Db } from 'mongodb';
import { UnavailableError } from '../../application/ports/index.js';

/**
 * To be called when a build has been read, before what was found is believed. Rejects with `Unavailable` where it is
 * not there: this node has yet to hear which one is served instead. A build's own collection is there from the
 * beginning, and the first to go.
 */
export async function assertBuildExists(db: Db, build: string | undefined): Promise<void> {
  const found = await db.listCollections({ name: build }, { nameOnly: true }).toArray();
  if (found.length === 0) throw new UnavailableError(`${build} is not served any more`);
}
