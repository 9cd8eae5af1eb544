/** Merkle trees: the vectors of RFC 6962 implementations, and proofs of trees of every size against a naive root. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import {
  consistencyProof,
  EMPTY_ROOT,
  hashLeaf,
  hashNode,
  inclusionProof,
  perfectRoot,
  type ReadNode,
  rootOf,
  verifyConsistency,
  verifyInclusion,
} from '../../../application/audit/merkle-tree.js';

/** Entries and roots of the first 1 to 8 of them, as in the tests of Certificate Transparency. */
const ENTRIES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
].map((hex) => Buffer.from(hex, 'hex'));
const ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];

const readerOf =
  (leaves: readonly Buffer[]): ReadNode =>
  async (height, index) =>
    perfectRoot(leaves.slice(index * 2 ** height, (index + 1) * 2 ** height));

const leavesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => hashLeaf(Buffer.from(`entry ${index}`)));

/** MTH of RFC 6962, section 2.1, word by word. */
function naiveRoot(leaves: readonly Buffer[]): Buffer {
  if (leaves.length === 0) return createHash('sha256').digest();
  if (leaves.length === 1) return leaves[0]!;
  let k = 1;
  while (k * 2 < leaves.length) k *= 2;
  return hashNode(naiveRoot(leaves.slice(0, k)), naiveRoot(leaves.slice(k)));
}

const changed = (proof: readonly Buffer[], at: number) =>
  proof.map((hash, index) => (index === at ? hashLeaf(hash) : hash));

describe('a Merkle tree', () => {
  it('has the roots of the known trees', async () => {
    expect(EMPTY_ROOT.toString('hex')).to.equal('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    const leaves = ENTRIES.map(hashLeaf);
    for (const [index, root] of ROOTS.entries())
      expect((await rootOf(index + 1, readerOf(leaves))).toString('hex')).to.equal(root);
  });

  it('has the paths of RFC 6962, section 2.1.3, in the tree of seven leaves', async () => {
    const leaves = leavesOf(7);
    const read = readerOf(leaves);
    const [a, b, c, d, e, f] = leaves as [Buffer, Buffer, Buffer, Buffer, Buffer, Buffer];
    const j = leaves[6]!;
    const [g, h, i] = [hashNode(a, b), hashNode(c, d), hashNode(e, f)];
    const [k, l] = [hashNode(g, h), hashNode(i, j)];
    expect(await inclusionProof(0, 7, read)).to.deep.equal([b, h, l]);
    expect(await inclusionProof(3, 7, read)).to.deep.equal([c, g, l]);
    expect(await inclusionProof(4, 7, read)).to.deep.equal([f, j, k]);
    expect(await inclusionProof(6, 7, read)).to.deep.equal([i, k]);
    expect(await consistencyProof(3, 7, read)).to.deep.equal([c, d, g, l]);
    expect(await consistencyProof(4, 7, read)).to.deep.equal([l]);
    expect(await consistencyProof(6, 7, read)).to.deep.equal([i, j, k]);
  });

  it('proves that each leaf is in it, and no other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 600 }), fc.nat(), fc.nat(), async (size, any, other) => {
        const leaves = leavesOf(size);
        const index = any % size;
        const root = naiveRoot(leaves);
        const proof = await inclusionProof(index, size, readerOf(leaves));
        expect(verifyInclusion(leaves[index]!, index, size, proof, root)).to.equal(true);
        const wrong = other % size;
        if (wrong !== index) expect(verifyInclusion(leaves[index]!, wrong, size, proof, root)).to.equal(false);
        expect(verifyInclusion(hashLeaf(Buffer.from('other')), index, size, proof, root)).to.equal(false);
        expect(verifyInclusion(leaves[index]!, index, size, [...proof, root], root)).to.equal(false);
        if (proof.length === 0) return;
        expect(verifyInclusion(leaves[index]!, index, size, proof.slice(1), root)).to.equal(false);
        expect(verifyInclusion(leaves[index]!, index, size, changed(proof, other % proof.length), root)).to.equal(
          false,
        );
      }),
      { numRuns: 100 },
    );
  });

  it('proves that it extends each smaller one, and no other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 600 }), fc.nat(), fc.nat(), async (size, any, at) => {
        const leaves = leavesOf(size);
        const oldSize = any % (size + 1);
        const [old, root] = [naiveRoot(leaves.slice(0, oldSize)), naiveRoot(leaves)];
        const proof = await consistencyProof(oldSize, size, readerOf(leaves));
        expect(verifyConsistency(oldSize, size, old, root, proof)).to.equal(true);
        const forged = naiveRoot(
          [...leaves.slice(0, oldSize), hashLeaf(Buffer.from('forged'))].slice(oldSize > 0 ? 1 : 0),
        );
        expect(verifyConsistency(oldSize, size, forged, root, proof)).to.equal(false);
        // Everything extends the empty tree.
        if (oldSize > 0) expect(verifyConsistency(oldSize, size, old, forged, proof)).to.equal(false);
        expect(verifyConsistency(oldSize, size, old, root, [...proof, root])).to.equal(false);
        if (proof.length > 0)
          expect(verifyConsistency(oldSize, size, old, root, changed(proof, at % proof.length))).to.equal(false);
      }),
      { numRuns: 100 },
    );
  });
});
