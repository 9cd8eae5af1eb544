/** Dictionary-encoded column of a block, and its binary format. */

/** A scalar or, in an array column, the JSON text of an array. */
export type Entry = string | number | boolean | null;

/** Maximum characters of distinct values: a larger column would take as much space as the records themselves. */
const MAX_CHARACTERS = 40 * 1024;
/** Bytes in memory of a distinct value besides its characters, and of a record. */
const MEMORY = { entry: 88, record: 4 };
const INITIAL_RECORDS = 1024;

export type Column = ReturnType<typeof createColumn>;

export function createColumn() {
  const entryByValue = new Map<Entry, number>();
  let at = new Uint16Array(0);
  let length = 0;
  let entries: Entry[] = [];
  /** Per entry the last chunk with it. */
  let chunks: number[] = [];
  let characters = 0;
  let dropped = false;
  /** The previous value; consecutive records often repeat it. */
  let previous: { value: Entry; entry: number } | undefined;

  const drop = () => {
    dropped = true;
    entryByValue.clear();
    [at, length, entries, chunks, characters] = [new Uint16Array(0), 0, [], [], 0];
  };

  const setEntry = (record: number, entry: number) => {
    if (record >= at.length) {
      const larger = new Uint16Array(Math.max(INITIAL_RECORDS, 2 ** Math.ceil(Math.log2(record + 1))));
      larger.set(at);
      at = larger;
    }
    at[record] = entry;
    length = record + 1;
  };

  const isNewIn = (chunk: number, entry: number): boolean => {
    const isNew = chunks[entry] !== chunk;
    chunks[entry] = chunk;
    return isNew;
  };

  return {
    /** Per record up to the last with a value: 0 for none, else the 1-based index in `entries`. */
    get at() {
      return at.subarray(0, length);
    },
    get entries() {
      return entries;
    },
    /** Exceeded its size limit; only the records have the values. */
    get dropped() {
      return dropped;
    },
    get memory() {
      return 2 * characters + MEMORY.entry * entries.length + MEMORY.record * length;
    },
    /** Sets the value of a record after all earlier ones. Returns false if an earlier one of its chunk has it as well. */
    add(record: number, chunk: number, value: Entry): boolean {
      if (dropped) return true;
      if (previous?.value === value) {
        setEntry(record, previous.entry);
        return isNewIn(chunk, previous.entry);
      }
      let entry = entryByValue.get(value);
      if (entry === undefined) {
        if (typeof value === 'string') characters += value.length;
        if (characters > MAX_CHARACTERS) {
          drop();
          return true;
        }
        entry = entries.push(value);
        entryByValue.set(value, entry);
      }
      setEntry(record, entry);
      if (previous) [previous.value, previous.entry] = [value, entry];
      else previous = { value, entry };
      return isNewIn(chunk, entry);
    },
    drop,
  };
}

/** Header: bytes per record (0 if all have the only value) and number of records. */
const HEAD = { width: 0, count: 4, bytes: 8 };
const BYTE = 0xff;
/** Code for the next new value: columns of mostly distinct values become runs of it, which compress well. */
const NEXT = 1;

/** `arrays`: the entries are JSON texts. */
export function encodeColumn({ at, entries }: Column, arrays: boolean): Buffer {
  const json = Buffer.from(arrays ? `[${entries.join(',')}]` : JSON.stringify(entries));
  const width = entries.length === 1 && !at.includes(0) ? 0 : entries.length < BYTE ? 1 : 2;
  const bytes = Buffer.alloc(HEAD.bytes + width * at.length + json.length);
  bytes[HEAD.width] = width;
  bytes.writeUInt32LE(at.length, HEAD.count);
  let maxEntry = 0;
  for (let record = 0; width > 0 && record < at.length; record++) {
    const to = HEAD.bytes + record * width;
    const entry = at[record]!;
    const code = entry > maxEntry ? NEXT : entry && entry + NEXT;
    maxEntry = Math.max(maxEntry, entry);
    bytes[to] = code & BYTE;
    if (width === 2) bytes[to + 1] = code >>> 8;
  }
  json.copy(bytes, HEAD.bytes + width * at.length);
  return bytes;
}

export interface DecodedColumn<Value> {
  readonly at: Uint16Array;
  readonly entries: readonly Value[];
}

export function decodeColumn<Value>(bytes: Buffer, count: number): DecodedColumn<Value> {
  const width = bytes[HEAD.width]!;
  const length = bytes.readUInt32LE(HEAD.count);
  const at = new Uint16Array(count);
  if (width === 0) at.fill(1, 0, length);
  let maxEntry = 0;
  for (let record = 0; width > 0 && record < length; record++) {
    const from = HEAD.bytes + record * width;
    const entry = width === 2 ? bytes[from]! | (bytes[from + 1]! << 8) : bytes[from]!;
    at[record] = entry === NEXT ? ++maxEntry : entry && entry - NEXT;
  }
  return { at, entries: JSON.parse(bytes.toString('utf8', HEAD.bytes + width * length)) };
}
