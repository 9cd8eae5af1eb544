/** Receipts of erasures: what they say is signed and in the log, or they are not accepted. */
import { expect } from 'chai';
import { formatProof, signCheckpoint } from '../../../application/audit/checkpoint.js';
import { encodeAuditEntry, eventEntry } from '../../../application/audit/log-entry.js';
import { hashLeaf } from '../../../application/audit/merkle-tree.js';
import { formatReceipt, verifyReceipt } from '../../../application/audit/receipt.js';
import { createSigner } from '../../../application/audit/signed-note.js';

const signer = createSigner('annals', Buffer.alloc(32, 1));
const stranger = createSigner('annals', Buffer.alloc(32, 2));
const EVENT = '{"userId":"ada","erasedAt":17}';
const ENTRY = encodeAuditEntry(
  eventEntry({
    id: 'b1',
    stream: 'chat.roster-main',
    revision: 7n,
    position: 700n,
    type: 'chat.UserErased.v1',
    recordedAt: 17,
    data: EVENT,
    metadata: '{}',
  }),
);
/** A tree of this entry alone. */
const proofBy = (by = signer, entry = ENTRY) =>
  formatProof({
    entry,
    index: 0,
    path: [],
    checkpoint: signCheckpoint({ origin: 'annals', size: 1, root: hashLeaf(ENTRY) }, [by]),
  });
const RECEIPT = { subject: 'user ada', event: EVENT, proof: proofBy() };

const erased = (type: string, data: unknown) =>
  type.startsWith('chat.UserErased.') ? `user ${(data as { userId: string }).userId}` : undefined;
const verify = (text: string) => verifyReceipt(text, [signer.verifier], erased);

describe('a receipt of an erasure', () => {
  it('is accepted with the key of its signer', () => {
    const verified = verify(formatReceipt(RECEIPT, signer));
    expect(verified).to.deep.include(RECEIPT);
    expect(verified?.entry.type).to.equal('chat.UserErased.v1');
    expect(verified?.checkpoint.size).to.equal(1);
  });

  it('is not accepted if anything in it was changed', () => {
    const text = formatReceipt(RECEIPT, signer);
    for (const changed of [text.replace('user ada', 'user bob'), text.replace('17', '18'), text.slice(1), `${text}\n`])
      expect(verify(changed), changed).to.equal(undefined);
  });

  it('is not accepted for another subject than its event erased, or for an event that erases nothing', () => {
    expect(verify(formatReceipt({ ...RECEIPT, subject: 'user bob' }, signer))).to.equal(undefined);
    const posted = encodeAuditEntry({ ...JSON.parse(String(ENTRY)), type: 'chat.MessagePosted.v1' });
    const proof = formatProof({
      entry: posted,
      index: 0,
      path: [],
      checkpoint: signCheckpoint({ origin: 'annals', size: 1, root: hashLeaf(posted) }, [signer]),
    });
    expect(verify(formatReceipt({ ...RECEIPT, proof }, signer))).to.equal(undefined);
  });

  it('is not accepted if it is signed by somebody else, or does not prove its event', () => {
    expect(verify(formatReceipt(RECEIPT, stranger))).to.equal(undefined);
    for (const receipt of [
      { ...RECEIPT, event: '{"userId":"bob","erasedAt":17}' },
      { ...RECEIPT, proof: proofBy(stranger) },
      { ...RECEIPT, proof: proofBy(signer, encodeAuditEntry({ key: signer.verifier.line })) },
    ])
      expect(verify(formatReceipt(receipt, signer)), JSON.stringify(receipt)).to.equal(undefined);
  });
});
