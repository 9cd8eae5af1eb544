/** A map that is never changed: `set` and `delete` give another one that shares nearly all with it, for folds of large sets. */

/** A few entries, or 32 places of what is below. */
type Node<Value> = readonly Entry<Value>[] | Branch<Value>;
type Entry<Value> = readonly [key: string, value: Value];

class Branch<Value> {
  constructor(readonly below: readonly Node<Value>[]) {}
}

const BITS = 5;
const WIDTH = 2 ** BITS;
/** Entries that lie side by side before they are spread over places. */
const FEW = 8;
/** By then all 32 bits of a hash are used up: what still meets there stays side by side. */
const DEEPEST = 30;

export class PersistentMap<Value> {
  private constructor(
    private readonly root: Node<Value>,
    readonly size: number,
  ) {}

  static empty<Value>(): PersistentMap<Value> {
    return new PersistentMap<Value>([], 0);
  }

  get(key: string): Value | undefined {
    return this.entry(key)?.[1];
  }

  has(key: string): boolean {
    return this.entry(key) !== undefined;
  }

  set(key: string, value: Value): PersistentMap<Value> {
    const root = placed(this.root, [key, value], hashOf(key), 0);
    return new PersistentMap(root, this.size + (this.has(key) ? 0 : 1));
  }

  delete(key: string): PersistentMap<Value> {
    if (!this.has(key)) return this;
    return new PersistentMap(without(this.root, key, hashOf(key), 0), this.size - 1);
  }

  /** In no order that means anything. */
  *[Symbol.iterator](): Generator<Entry<Value>> {
    yield* entriesOf(this.root);
  }

  *values(): Generator<Value> {
    for (const [, value] of this) yield value;
  }

  /** The entries that were set since an earlier one: what is shared with it is not looked at. */
  *since(earlier: PersistentMap<Value>): Generator<Entry<Value>> {
    yield* differing(this.root, earlier.root);
  }

  private entry(key: string): Entry<Value> | undefined {
    let node = this.root;
    for (let rest = hashOf(key); node instanceof Branch; rest >>>= BITS) node = node.below[rest % WIDTH]!;
    return node.find(([each]) => each === key);
  }
}

function placed<Value>(node: Node<Value>, entry: Entry<Value>, hash: number, depth: number): Node<Value> {
  if (node instanceof Branch) {
    const place = (hash >>> depth) % WIDTH;
    return new Branch(node.below.with(place, placed(node.below[place]!, entry, hash, depth + BITS)));
  }
  const entries = [...node.filter(([key]) => key !== entry[0]), entry];
  if (entries.length <= FEW || depth > DEEPEST) return entries;
  const spread = new Branch<Value>(Array.from({ length: WIDTH }, () => []));
  return entries.reduce<Node<Value>>((all, each) => placed(all, each, hashOf(each[0]), depth), spread);
}

function without<Value>(node: Node<Value>, key: string, hash: number, depth: number): Node<Value> {
  if (!(node instanceof Branch)) return node.filter(([each]) => each !== key);
  const place = (hash >>> depth) % WIDTH;
  return new Branch(node.below.with(place, without(node.below[place]!, key, hash, depth + BITS)));
}

function* entriesOf<Value>(node: Node<Value>): Generator<Entry<Value>> {
  if (node instanceof Branch) for (const each of node.below) yield* entriesOf(each);
  else yield* node;
}

function* differing<Value>(node: Node<Value>, before: Node<Value>): Generator<Entry<Value>> {
  if (node === before) return;
  if (node instanceof Branch && before instanceof Branch) {
    for (const [place, each] of node.below.entries()) yield* differing(each, before.below[place]!);
    return;
  }
  const known = new Set(entriesOf(before));
  for (const entry of entriesOf(node)) if (!known.has(entry)) yield entry;
}

/** FNV-1a, 32 bits. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
