/** State shared by all commands while the engine runs. */
import type { SortMemory } from '../query/sort.js';
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
  readonly sortMemory: SortMemory;
  /** Verifies that a client knows the secret of this start. */
  readonly verifier: Verifier;
  /** Name that clients of this start use; drivers send it on every connection. */
  readonly clientName: string;
  /** `127.0.0.1:<port>`, once listening. */
  address: string;
  connections: number;
  /** Commands that are using the store. */
  readonly active: { readers: number; writers: number };
}
