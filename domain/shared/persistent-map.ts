/**
 * Persistent map (hash array mapped trie): `set` and `delete` return a new map that shares most nodes with the old
 * one.
 */

/** Leaf with a few entries, or branch with 32 children. */
type Node<Value> = readonly Entry<Value>[] | Branch<Value>;
type Entry<Value> = readonly [key: string, value: Value];

class Branch<Value> {
  constructor(readonly children: readonly Node<Value>[]) {}
}

const BITS = 5;
const WIDTH = 2 ** BITS;
/** Entries of a leaf before it is split. */
const MAX_LEAF_SIZE = 8;
/** Hash bits used at the deepest level; entries that still collide stay in one leaf. */
const MAX_DEPTH = 30;

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
    const root = withEntry(this.root, [key, value], hashOf(key), 0);
    return new PersistentMap(root, this.size + (this.has(key) ? 0 : 1));
  }

  delete(key: string): PersistentMap<Value> {
    if (!this.has(key)) return this;
    return new PersistentMap(withoutKey(this.root, key, hashOf(key), 0), this.size - 1);
  }

  /** Iterates in no particular order. */
  *[Symbol.iterator](): Generator<Entry<Value>> {
    yield* entriesOf(this.root);
  }

  *values(): Generator<Value> {
    for (const [, value] of this) yield value;
  }

  private entry(key: string): Entry<Value> | undefined {
    let node = this.root;
    for (let rest = hashOf(key); node instanceof Branch; rest >>>= BITS) node = node.children[rest % WIDTH]!;
    return node.find(([each]) => each === key);
  }
}

function withEntry<Value>(node: Node<Value>, entry: Entry<Value>, hash: number, depth: number): Node<Value> {
  if (node instanceof Branch) {
    const index = (hash >>> depth) % WIDTH;
    return new Branch(node.children.with(index, withEntry(node.children[index]!, entry, hash, depth + BITS)));
  }
  const entries = [...node.filter(([key]) => key !== entry[0]), entry];
  if (entries.length <= MAX_LEAF_SIZE || depth > MAX_DEPTH) return entries;
  const branch = new Branch<Value>(Array.from({ length: WIDTH }, () => []));
  return entries.reduce<Node<Value>>((all, each) => withEntry(all, each, hashOf(each[0]), depth), branch);
}

function withoutKey<Value>(node: Node<Value>, key: string, hash: number, depth: number): Node<Value> {
  if (!(node instanceof Branch)) return node.filter(([each]) => each !== key);
  const index = (hash >>> depth) % WIDTH;
  return new Branch(node.children.with(index, withoutKey(node.children[index]!, key, hash, depth + BITS)));
}

function* entriesOf<Value>(node: Node<Value>): Generator<Entry<Value>> {
  if (node instanceof Branch) for (const each of node.children) yield* entriesOf(each);
  else yield* node;
}

/** FNV-1a, 32 bits. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  }
  return hash >>> 0;
}
