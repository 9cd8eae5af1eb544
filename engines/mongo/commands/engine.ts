/** What the commands share: the store and all that lives beside it while the engine runs. */
import type { SortRoom } from '../query/sort.js';
import type { Verifier } from '../scram.js';
import type { Catalog } from '../storage/catalog.js';
import type { Documents } from '../storage/collection.js';
import type { Sessions } from '../storage/sessions.js';
import type { Clock } from '../wire/clock.js';
import type { Cursors } from './cursors.js';

export interface Engine {
  readonly catalog: Catalog;
  readonly documents: Documents;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly cursors: Cursors;
  readonly sorting: SortRoom;
  readonly startedAt: number;
  /** Tells who knows the secret of this start. */
  readonly verifier: Verifier;
  /** What clients of this start call themselves: drivers greet with it on every connection. */
  readonly clientName: string;
  /** `127.0.0.1:<port>`, once listening. */
  address: string;
  connections: number;
  /** Commands that are at the store. */
  readonly active: { readers: number; writers: number };
}
