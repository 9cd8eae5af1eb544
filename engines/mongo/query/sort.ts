/** Sorting documents in memory, by the same keys the indexes hold. */
import { compoundKey, END, keyOf } from '../bson/key.js';
import { integerOf } from '../bson/number.js';
import { fieldsOf, type Value } from '../bson/value.js';
import { CommandError, notImplemented } from '../errors.js';
import { entriesOf } from '../storage/keys.js';
import { type Path, plainPath } from './path.js';

export interface SortField {
  readonly path: Path;
  readonly direction: 1 | -1;
}

/** The fields of a sort document. Errors: 15975 for a direction other than 1 and -1, 15974 for an expression. */
export function parseSort(document: Value): SortField[] {
  return fieldsOf(document).map((field) => {
    if (field.name === '$natural') throw notImplemented(2, '$natural order: documents lie in the order of _id');
    const direction = integerOf(field);
    if (direction !== 1 && direction !== -1) {
      const code = direction === undefined ? 15974 : 15975;
      throw new CommandError(code, '$sort key ordering must be 1 (for ascending) or -1 (for descending)');
    }
    if (field.name === '' || field.name.split('.').includes(''))
      throw new CommandError(40353, "FieldPath must not end with a '.'.");
    if (field.name.startsWith('$')) throw new CommandError(16410, `FieldPath field names may not start with '$'.`);
    return { path: plainPath(field.name, 'a sort'), direction };
  });
}

const HEAD = Buffer.alloc(0);

/**
 * The key by which a document sorts: of an array its smallest element ascending, its largest descending. Errors: 2 for
 * two fields that both reach into arrays, which the real server takes element by element, or refuses.
 */
export function sortKey(document: Value, fields: readonly SortField[]): Buffer {
  let arrays = 0;
  const values = fields.map(({ path, direction }) => {
    const { rows, multikey } = entriesOf(document, [path]);
    const found = rows.map(([value]) => value);
    if (multikey[0] && ++arrays > 1) throw notImplemented(2, 'a sort by two fields inside arrays');
    if (found.length === 1) return found[0];
    return found.reduce((best, value) => (Buffer.compare(keyOf(value), keyOf(best)) * direction < 0 ? value : best));
  });
  const directions = fields.map(({ direction }) => direction);
  return Buffer.concat([compoundKey(HEAD, values, directions), END]);
}

/** What one sort may hold in memory, as on the real server. */
const MEMORY_LIMIT = 100 * 1024 * 1024;

/** And all that are under way, or whose documents have not all been fetched, together. */
const ROOM = 256 * 1024 * 1024;

/** What sorts hold together. */
export class SortRoom {
  #used = 0;

  /** May be less than nothing. Errors: 146 when there is no more: later there is. */
  take(bytes: number): void {
    this.#used += bytes;
    if (bytes > 0 && this.#used > ROOM)
      throw new CommandError(146, `the sorts of all clients together exceeded memory limit of ${ROOM} bytes`);
  }
}

/** Collects documents and gives them back in order; with `limit` (0 = all) only the first are kept. */
export class Sorter {
  #rows: { readonly key: Buffer; readonly row: Buffer; readonly seen: number }[] = [];
  #bytes = 0;
  #seen = 0;

  constructor(
    readonly fields: readonly SortField[],
    readonly limit: number,
    readonly room = new SortRoom(),
  ) {}

  /** Errors: 292 when more than 100 MiB would have to be held, 146 when others hold too much. */
  add(document: Value): void {
    const row = document.bytes;
    this.#rows.push({ key: sortKey(document, this.fields), row, seen: this.#seen++ });
    this.#bytes += row.length;
    this.room.take(row.length);
    if (this.limit > 0 && this.#rows.length > this.limit * 2 + 64) this.#trim();
    if (this.#bytes > MEMORY_LIMIT)
      throw new CommandError(
        292,
        'Sort exceeded memory limit of 104857600 bytes, but did not opt in to external sorting.',
      );
  }

  #trim(): void {
    this.#rows.sort((a, b) => Buffer.compare(a.key, b.key) || a.seen - b.seen);
    if (this.limit > 0) this.#rows.length = Math.min(this.#rows.length, this.limit);
    const left = this.#rows.reduce((sum, { row }) => sum + row.length, 0);
    this.room.take(left - this.#bytes);
    this.#bytes = left;
  }

  sorted(): Buffer[] {
    this.#trim();
    return this.#rows.map(({ row }) => row);
  }

  /** Nobody needs its documents any more. */
  release(): void {
    this.#rows = [];
    this.room.take(-this.#bytes);
    this.#bytes = 0;
  }
}
