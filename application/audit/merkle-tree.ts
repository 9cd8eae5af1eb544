/** Merkle trees of RFC 6962 with SHA-256: hashes, proofs and their verification. */
import { hash } from 'node:crypto';

const LEAF = Buffer.of(0);
const NODE = Buffer.of(1);

const sha256 = (bytes: Uint8Array): Buffer => hash('sha256', bytes, 'buffer');

/** Root of the tree without entries. */
export const EMPTY_ROOT: Buffer = sha256(Buffer.alloc(0));

export const hashLeaf = (entry: Uint8Array): Buffer => sha256(Buffer.concat([LEAF, entry]));

export const hashNode = (left: Uint8Array, right: Uint8Array): Buffer => sha256(Buffer.concat([NODE, left, right]));

/** Root of a perfect tree whose nodes at some height are given; their number must be a power of two. */
export function perfectRoot(nodes: readonly Buffer[]): Buffer {
  let level = nodes;
  while (level.length > 1)
    level = Array.from({ length: level.length / 2 }, (_, index) => hashNode(level[2 * index]!, level[2 * index + 1]!));
  return level[0]!;
}

/** Resolves with the root of the perfect subtree of `2 ** height` leaves that starts at leaf `index * 2 ** height`. */
export type ReadNode = (height: number, index: number) => Promise<Buffer>;

/** Root of the tree of the first `size` leaves. */
export const rootOf = async (size: number, read: ReadNode): Promise<Buffer> =>
  size === 0 ? EMPTY_ROOT : rangeHash(0, size, read);

/** The audit path of RFC 6962, section 2.1.1: proves that leaf `index` is in the tree of `size` leaves. */
export async function inclusionProof(index: number, size: number, read: ReadNode): Promise<readonly Buffer[]> {
  let [start, end] = [0, size];
  const path: Promise<Buffer>[] = [];
  while (end - start > 1) {
    const middle = start + splitOf(end - start);
    path.unshift(index < middle ? rangeHash(middle, end, read) : rangeHash(start, middle, read));
    if (index < middle) end = middle;
    else start = middle;
  }
  return Promise.all(path);
}

/** The proof of RFC 6962, section 2.1.2: the tree of `size` leaves extends that of its first `oldSize` leaves. */
export async function consistencyProof(oldSize: number, size: number, read: ReadNode): Promise<readonly Buffer[]> {
  if (oldSize === 0 || oldSize === size) return [];
  let [start, end] = [0, size];
  const path: Promise<Buffer>[] = [];
  while (oldSize < end) {
    const middle = start + splitOf(end - start);
    path.unshift(oldSize <= middle ? rangeHash(middle, end, read) : rangeHash(start, middle, read));
    if (oldSize <= middle) end = middle;
    else start = middle;
  }
  // The verifier knows the root of the old tree, so it is only sent if it is not a whole subtree of its own.
  if (start > 0) path.unshift(rangeHash(start, end, read));
  return Promise.all(path);
}

/** Leaves in the left subtree of a tree: the largest power of two below its size. */
const splitOf = (size: number): number => 2 ** Math.ceil(Math.log2(size) - 1);

async function rangeHash(start: number, end: number, read: ReadNode): Promise<Buffer> {
  const height = Math.log2(end - start);
  if (Number.isInteger(height)) return read(height, start / (end - start));
  const middle = start + splitOf(end - start);
  return hashNode(await rangeHash(start, middle, read), await rangeHash(middle, end, read));
}

const half = (index: number) => Math.floor(index / 2);
const isOdd = (index: number) => index % 2 === 1;

/** Verifies an inclusion proof as RFC 9162, section 2.1.3.2. */
export function verifyInclusion(
  leaf: Buffer,
  index: number,
  size: number,
  proof: readonly Buffer[],
  root: Buffer,
): boolean {
  if (index >= size) return false;
  let [node, last, computed] = [index, size - 1, leaf];
  for (const sibling of proof) {
    if (last === 0) return false;
    if (isOdd(node) || node === last) {
      computed = hashNode(sibling, computed);
      while (!isOdd(node) && node !== 0) [node, last] = [half(node), half(last)];
    } else computed = hashNode(computed, sibling);
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && computed.equals(root);
}

/** Verifies a consistency proof as RFC 9162, section 2.1.4.2. Every tree extends the empty one. */
export function verifyConsistency(
  oldSize: number,
  size: number,
  oldRoot: Buffer,
  root: Buffer,
  proof: readonly Buffer[],
): boolean {
  if (oldSize > size) return false;
  if (oldSize === size) return proof.length === 0 && oldRoot.equals(root);
  if (oldSize === 0) return proof.length === 0 && oldRoot.equals(EMPTY_ROOT);
  const [first, ...rest] = Number.isInteger(Math.log2(oldSize)) ? [oldRoot, ...proof] : proof;
  if (!first) return false;
  let [node, last] = [oldSize - 1, size - 1];
  while (isOdd(node)) [node, last] = [half(node), half(last)];
  let [old, computed] = [first, first];
  for (const sibling of rest) {
    if (last === 0) return false;
    if (isOdd(node) || node === last) {
      [old, computed] = [hashNode(sibling, old), hashNode(sibling, computed)];
      while (!isOdd(node) && node !== 0) [node, last] = [half(node), half(last)];
    } else computed = hashNode(computed, sibling);
    [node, last] = [half(node), half(last)];
  }
  return last === 0 && old.equals(oldRoot) && computed.equals(root);
}
