/** What people do with guest books: sign one, read one. In `application/`. */
import type { Handle } from '../../application/command/handle-command.js';
import { reflecting, showing, type Touched } from '../../application/consistency/await-consistent.js';
import type { Clock, CommandContext, Position, Rows, Settled, Vault } from '../../application/ports/index.js';
import { isRejection } from '../../domain/shared/decider.js';
import { book, bookStream, catalog, type Entry } from './book.js';

type Ports = { handle: Handle; vault: Vault; clock: Clock; rows: Rows; settled: Settled };
export function createBooks({ handle, vault, clock, rows, settled }: Ports) {
  return {
    async sign(bookId: string, entry: Entry, context: CommandContext) {
      const stream = bookStream({ bookId });
      const keyed = async () => void (await vault.create(stream));
      const command = { bookId, now: clock.now(), ...entry };
      const outcome = await handle({ catalog, decider: book }, stream, command, context, keyed);
      return isRejection(outcome) ? outcome : { body: entry, position: outcome.position };
    },
    /** The newest hundred; `seen` is reflected. */
    async read(bookId: string, seen?: Position) {
      const stream = bookStream({ bookId });
      const reflected = await reflecting(settled, 'guestbook.entries', { streams: [stream], seen });
      const query = { filter: { book: bookId }, sort: { revision: -1 }, limit: 100 } as const;
      const found = await rows.find<Touched & { readonly secret: string }>('guestbook.entries', query);
      const opened = await Promise.all(found.map(({ secret }) => vault.open(stream, secret)));
      const body = { entries: opened.filter((each) => each !== undefined) };
      return { body, ...showing(reflected, found) };
    },
  };
}
