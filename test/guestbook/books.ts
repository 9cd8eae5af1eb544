/** Use cases of guest books: sign one, read one. Belongs in `application/`. */
import type { HandleCommand } from '../../application/command/handle-command.js';
import { awaitConsistent, type PositionedRow, withRows } from '../../application/consistency/await-consistent.js';
import type {
  Clock,
  CommandContext,
  Position,
  ProjectionProgress,
  Rows,
  Vault,
} from '../../application/ports/index.js';
import { isRejection } from '../../domain/shared/decider.js';
import { book, bookStream, catalog, type Entry } from './book.js';

type Ports = { handle: HandleCommand; vault: Vault; clock: Clock; rows: Rows; projectionProgress: ProjectionProgress };
export function createBooks({ handle, vault, clock, rows, projectionProgress }: Ports) {
  return {
    async sign(bookId: string, entry: Entry, context: CommandContext) {
      const stream = bookStream({ bookId });
      const createKey = async () => void (await vault.create(stream));
      const command = { bookId, now: clock.now(), ...entry };
      const outcome = await handle({ catalog, decider: book }, stream, command, context, createKey);
      return isRejection(outcome) ? outcome : { body: entry, position: outcome.position };
    },
    /** The newest hundred entries, consistent up to `seenByCaller`. */
    async read(bookId: string, seenByCaller?: Position) {
      const stream = bookStream({ bookId });
      const consistency = await awaitConsistent(projectionProgress, 'guestbook.entries', {
        streams: [stream],
        seenByCaller,
      });
      const query = { filter: { book: bookId }, sort: { revision: -1 }, limit: 100 } as const;
      const page = await rows.find<PositionedRow & { readonly secret: string }>('guestbook.entries', query);
      const opened = await Promise.all(page.map(({ secret }) => vault.open(stream, secret)));
      const body = { entries: opened.filter((each) => each !== undefined) };
      return { body, ...withRows(consistency, page) };
    },
  };
}
