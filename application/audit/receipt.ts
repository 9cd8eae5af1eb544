/** Receipts of erasures: a signed statement of what was erased, with the proof that the log says so. */
import { hash } from 'node:crypto';
import { type Checkpoint, parseProof, verifyProof } from './checkpoint.js';
import { type EventEntry, parseAuditEntry } from './log-entry.js';
import { parseNote, type Signer, signNote, type Verifier, verifiedBy } from './signed-note.js';

const HEADER = 'annals erasure receipt v1';
const STATEMENT = new RegExp(`^${HEADER}\\nsubject ([^\\n]+)\\nevent ([^\\n]+)\\n\\n(.+)$`, 's');

export interface Receipt {
  /** What was erased: `user <id>`, `meeting <id>`. */
  readonly subject: string;
  /** JSON of the event of the erasure, as it is stored. */
  readonly event: string;
  /** Proof that this event is in the transparency log, as C2SP `tlog-proof`. */
  readonly proof: string;
}

/** A signed note: the statement in lines, then the proof. */
export const formatReceipt = ({ subject, event, proof }: Receipt, signer: Signer): string =>
  signNote(`${HEADER}\nsubject ${subject}\nevent ${event}\n\n${proof}`, [signer]);

export interface VerifiedReceipt extends Receipt {
  readonly entry: EventEntry;
  readonly checkpoint: Checkpoint;
}

/**
 * Returns the receipt; undefined if it is malformed, not signed with one of the keys, or does not prove an event that
 * erased its subject.
 *
 * @param subjectOf What an event erased, by its stored type and its data; undefined if it erases nothing.
 */
export function verifyReceipt(
  text: string,
  verifiers: readonly Verifier[],
  subjectOf: (type: string, data: unknown) => string | undefined,
): VerifiedReceipt | undefined {
  const note = parseNote(text);
  if (!note || !verifiedBy(note, verifiers).some(({ isWitness }) => !isWitness)) return undefined;
  const [, subject, event, proof] = STATEMENT.exec(note.text) ?? [];
  const parsed = proof === undefined ? undefined : parseProof(proof);
  const checkpoint = parsed && verifyProof(parsed, verifiers);
  const entry = parsed && parseAuditEntry(parsed.entry);
  if (subject === undefined || event === undefined || proof === undefined || !checkpoint) return undefined;
  if (!entry || !('position' in entry) || entry.data !== hash('sha256', event, 'base64')) return undefined;
  if (subjectOf(entry.type, JSON.parse(event)) !== subject) return undefined;
  return { subject, event, proof, entry, checkpoint };
}
