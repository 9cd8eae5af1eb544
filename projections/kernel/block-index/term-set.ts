/** The terms of a block, with the chunks that have them if it has chunks, in a hash set: a block has thousands. */

export type TermSet = ReturnType<typeof createTermSet>;

const INITIAL_SIZE = 256;
const LOAD_FACTOR = 0.5;
/** Growth factor; large, because most blocks reach thousands of terms. */
const GROWTH = 4;
/** Random: whoever chooses terms must not know which ones share slots. */
const SLOT_SEED = Math.floor(Math.random() * 2 ** 32);
/** Bits of a mask of chunks; further chunks share them. */
export const CHUNK_BITS = 12;

/** Bit of a chunk in a mask of chunks. */
export const chunkBit = (chunk: number): number => 1 << (chunk % CHUNK_BITS);

/** Mixes the bits of a term: each of the result depends on all of them. */
export function mixBits(term: number): number {
  let value = Math.imul(term ^ (term >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

export function createTermSet() {
  let terms = new Int32Array(INITIAL_SIZE * LOAD_FACTOR);
  let masks = new Uint16Array(terms.length);
  /** Slots of the hash table: 1-based index in `terms`, or 0 if free. */
  let table = new Uint32Array(INITIAL_SIZE);
  let size = 0;

  const find = (term: number) => {
    const mask = table.length - 1;
    let at = mixBits(term ^ SLOT_SEED) & mask;
    for (let entry = table[at]!; entry !== 0 && terms[entry - 1] !== term; entry = table[at]!) at = (at + 1) & mask;
    return at;
  };

  const grow = () => {
    table = new Uint32Array(table.length * GROWTH);
    const [largerTerms, largerMasks] = [new Int32Array(terms.length * GROWTH), new Uint16Array(terms.length * GROWTH)];
    largerTerms.set(terms);
    largerMasks.set(masks);
    [terms, masks] = [largerTerms, largerMasks];
    for (let entry = 0; entry < size; entry++) table[find(terms[entry]!)] = entry + 1;
  };

  return {
    get size() {
      return size;
    },
    get memory() {
      return terms.byteLength + masks.byteLength + table.byteLength;
    },
    add(term: number, chunk = 0): void {
      const int32 = term | 0;
      let at = find(int32);
      if (table[at] === 0) {
        if (size === terms.length) {
          grow();
          at = find(int32);
        }
        terms[size++] = int32;
        table[at] = size;
      }
      masks[table[at]! - 1]! |= chunkBit(chunk);
    },
    /** In insertion order. */
    forEach(callback: (term: number, chunks: number) => void): void {
      for (let entry = 0; entry < size; entry++) callback(terms[entry]!, masks[entry]!);
    },
  };
}
