/** A set of 32-bit terms, in the order they came: a block has thousands, and looks up a dozen for every record. */

export interface TermSet extends Iterable<number> {
  readonly size: number;
  /** False when it was there before. */
  add(term: number): boolean;
  /** Those that came from a place in their order on. */
  since(from: number): Int32Array;
  /** In bytes. */
  readonly memory: number;
}

const FIRST = 256;
/** Of the table, at most, in use: the rest keeps searches short. */
const LOAD = 0.5;
/** Most blocks have thousands: to get there takes few steps. */
const GROWTH = 4;
const SPREAD = 0x9e3779b1;

export function createTermSet(): TermSet {
  let terms = new Int32Array(FIRST * LOAD);
  /** Where in `terms` the one stands that has its place here, from 1 on; 0 where none has. */
  let table = new Uint32Array(FIRST);
  let size = 0;

  /** Its place in the table, or the one where it would go. */
  const find = (term: number) => {
    const mask = table.length - 1;
    let at = (Math.imul(term, SPREAD) >>> 8) & mask;
    for (let nth = table[at]!; nth !== 0 && terms[nth - 1] !== term; nth = table[at]!) at = (at + 1) & mask;
    return at;
  };

  const grow = () => {
    table = new Uint32Array(table.length * GROWTH);
    const more = new Int32Array(table.length * LOAD);
    more.set(terms);
    terms = more;
    for (let nth = 0; nth < size; nth++) table[find(terms[nth]!)] = nth + 1;
  };

  return {
    get size() {
      return size;
    },
    get memory() {
      return terms.byteLength + table.byteLength;
    },
    add(term) {
      const own = term | 0;
      let at = find(own);
      if (table[at] !== 0) return false;
      if (size === terms.length) {
        grow();
        at = find(own);
      }
      terms[size++] = own;
      table[at] = size;
      return true;
    },
    since: (from) => terms.subarray(from, size),
    [Symbol.iterator]: () => terms.subarray(0, size).values(),
  };
}
