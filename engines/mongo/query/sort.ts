/** Sorts documents in memory by the same keys that indexes store. */
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

/** Parses a sort document. Errors: 15975 for a direction other than 1 and -1, 15974 for an expression. */
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
 * Sort key of a document; an array sorts by its smallest element ascending and its largest descending. Errors: 2 for
 * two fields inside arrays, which the real server combines by element or refuses.
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

/** Maximum bytes one sort holds, as on the real server. */
const MEMORY_LIMIT = 100 * 1024 * 1024;

/** Maximum bytes of all sorts in progress, including those of open cursors. */
const TOTAL_LIMIT = 256 * 1024 * 1024;

/** Memory budget shared by all sorts. */
export class SortMemory {
  #used = 0;

  /**
   * Reserves bytes; negative numbers release them. Errors: 146 if the budget is exhausted, which a retry may overcome.
   */
  reserve(bytes: number): void {
    this.#used += bytes;
    if (bytes > 0 && this.#used > TOTAL_LIMIT)
      throw new CommandError(146, `the sorts of all clients together exceeded memory limit of ${TOTAL_LIMIT} bytes`);
  }
}

/** Collects documents and returns them in order; with a `limit` (0 = none) it holds only the first ones. */
export class Sorter {
  #rows: { readonly key: Buffer; readonly row: Buffer; readonly order: number }[] = [];
  #bytes = 0;
  #order = 0;

  constructor(
    readonly fields: readonly SortField[],
    readonly limit: number,
    readonly memory: SortMemory,
  ) {}

  /** Errors: 292 if more than 100 MiB would be needed, 146 if other sorts hold too much. */
  add(document: Value): void {
    const row = document.bytes;
    this.#rows.push({ key: sortKey(document, this.fields), row, order: this.#order++ });
    this.#bytes += row.length;
    this.memory.reserve(row.length);
    if (this.limit > 0 && this.#rows.length > this.limit * 2 + 64) this.#trim();
    if (this.#bytes > MEMORY_LIMIT)
      throw new CommandError(
        292,
        'Sort exceeded memory limit of 104857600 bytes, but did not opt in to external sorting.',
      );
  }

  #trim(): void {
    this.#rows.sort((a, b) => Buffer.compare(a.key, b.key) || a.order - b.order);
    if (this.limit > 0) this.#rows.length = Math.min(this.#rows.length, this.limit);
    const bytes = this.#rows.reduce((sum, { row }) => sum + row.length, 0);
    this.memory.reserve(bytes - this.#bytes);
    this.#bytes = bytes;
  }

  sorted(): Buffer[] {
    this.#trim();
    return this.#rows.map(({ row }) => row);
  }

  /** Releases the documents. */
  release(): void {
    this.#rows = [];
    this.memory.reserve(-this.#bytes);
    this.#bytes = 0;
  }
}
