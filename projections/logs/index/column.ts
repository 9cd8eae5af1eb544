/** One column of a block: which of its different values each record has, and how that is written. */

/** A string, number, boolean or null; of a column of arrays, the JSON text of one. */
export type Entry = string | number | boolean | null;

/** A column with more characters in its different values is given up: records themselves take little more room. */
const MOST_CHARACTERS = 40 * 1024;
/** What a value takes in memory besides its characters, and what a record takes. */
const MEMORY = { entry: 80, record: 4 };
/** Records that there is room for at first. */
const ROOM = 1024;

export interface Column {
  /** For every record, up to the last that has a value: 0 where it has none, else which of `entries`, from 1 on. */
  readonly at: Uint16Array;
  readonly entries: readonly Entry[];
  /** It was given up: what its values are is told by the records alone. */
  readonly dropped: boolean;
  /** In bytes, about. */
  readonly memory: number;
  /** The value of a record that comes after all others which have one. False when it was there before. */
  add(record: number, value: Entry): boolean;
  drop(): void;
}

export function createColumn(): Column {
  const known = new Map<Entry, number>();
  let at = new Uint16Array(0);
  /** Of `at` in use. */
  let length = 0;
  let entries: Entry[] = [];
  let characters = 0;
  let dropped = false;
  /** Much is the same as in the record before. */
  let last: { value: Entry; entry: number } | undefined;

  const drop = () => {
    dropped = true;
    known.clear();
    [at, length, entries, characters] = [new Uint16Array(0), 0, [], 0];
  };

  const put = (record: number, entry: number) => {
    if (record >= at.length) {
      const more = new Uint16Array(Math.max(ROOM, 2 ** Math.ceil(Math.log2(record + 1))));
      more.set(at);
      at = more;
    }
    at[record] = entry;
    length = record + 1;
  };

  return {
    get at() {
      return at.subarray(0, length);
    },
    get entries() {
      return entries;
    },
    get dropped() {
      return dropped;
    },
    get memory() {
      return 2 * characters + MEMORY.entry * entries.length + MEMORY.record * length;
    },
    add(record, value) {
      if (dropped) return true;
      if (last?.value === value) {
        put(record, last.entry);
        return false;
      }
      let entry = known.get(value);
      const isNew = entry === undefined;
      if (entry === undefined) {
        if (typeof value === 'string') characters += value.length;
        if (characters > MOST_CHARACTERS) {
          drop();
          return true;
        }
        entry = entries.push(value);
        known.set(value, entry);
      }
      put(record, entry);
      if (last) [last.value, last.entry] = [value, entry];
      else last = { value, entry };
      return isNew;
    },
    drop,
  };
}

/** Whether two columns say the same of every record, read as texts. */
export function saysTheSame(a: Column, b: Column): boolean {
  const [of, other] = [a.at, b.at];
  return (
    of.length === other.length &&
    a.entries.length === b.entries.length &&
    a.entries.every((entry, index) => String(entry) === String(b.entries[index])) &&
    of.every((entry, index) => entry === other[index])
  );
}

/** Bytes a record takes, none where all have the one value there is; and how many records are told of. */
const HEAD = { width: 0, count: 4, bytes: 8 };
const BYTE = 0xff;
/** The next value that no record before had: where most differ, most say the same, which packs well. */
const NEXT = 1;

/** `arrays`: its values are JSON texts. */
export function encodeColumn({ at, entries }: Column, arrays: boolean): Buffer {
  const json = Buffer.from(arrays ? `[${entries.join(',')}]` : JSON.stringify(entries));
  const width = entries.length === 1 && !at.includes(0) ? 0 : entries.length < BYTE ? 1 : 2;
  const bytes = Buffer.alloc(HEAD.bytes + width * at.length + json.length);
  bytes[HEAD.width] = width;
  bytes.writeUInt32LE(at.length, HEAD.count);
  let seen = 0;
  for (let record = 0; width > 0 && record < at.length; record++) {
    const to = HEAD.bytes + record * width;
    const entry = at[record]!;
    const told = entry > seen ? NEXT : entry && entry + NEXT;
    seen = Math.max(seen, entry);
    bytes[to] = told & BYTE;
    if (width === 2) bytes[to + 1] = told >>> 8;
  }
  json.copy(bytes, HEAD.bytes + width * at.length);
  return bytes;
}

export interface DecodedColumn<Value> {
  /** For every record of the block. */
  readonly at: Uint16Array;
  readonly entries: readonly Value[];
}

/** `count`: of the block's records. */
export function decodeColumn<Value>(bytes: Buffer, count: number): DecodedColumn<Value> {
  const width = bytes[HEAD.width]!;
  const told = bytes.readUInt32LE(HEAD.count);
  const at = new Uint16Array(count);
  if (width === 0) at.fill(1, 0, told);
  let seen = 0;
  for (let record = 0; width > 0 && record < told; record++) {
    const from = HEAD.bytes + record * width;
    const entry = width === 2 ? bytes[from]! | (bytes[from + 1]! << 8) : bytes[from]!;
    at[record] = entry === NEXT ? ++seen : entry && entry - NEXT;
  }
  return { at, entries: JSON.parse(bytes.toString('utf8', HEAD.bytes + width * told)) };
}
