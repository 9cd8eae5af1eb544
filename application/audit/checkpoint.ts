/** Checkpoints and proofs of the transparency log in the formats of C2SP: `tlog-checkpoint`, `tlog-proof`. */
import { hashLeaf, verifyInclusion } from './merkle-tree.js';
import { type Note, parseNote, type Signer, signNote, type Verifier, verifiedBy } from './signed-note.js';
import { HASH_BYTES } from './tiles.js';

export interface Checkpoint {
  /** Name of the log. */
  readonly origin: string;
  /** Entries of the tree. */
  readonly size: number;
  readonly root: Buffer;
}

export const signCheckpoint = ({ origin, size, root }: Checkpoint, signers: readonly Signer[]): string =>
  signNote(`${origin}\n${size}\n${root.toString('base64')}\n`, signers);

const NUMBER = /^(?:0|[1-9]\d{0,15})$/;

/** Parses a signed checkpoint without verifying it; undefined if it is malformed. */
export function parseCheckpoint(text: string): (Checkpoint & { readonly note: Note }) | undefined {
  const note = parseNote(text);
  const [origin = '', size = '', encoded = ''] = note?.text.split('\n') ?? [];
  const root = parseHash(encoded);
  return note && origin !== '' && NUMBER.test(size) && root ? { origin, size: Number(size), root, note } : undefined;
}

/** Parses a checkpoint; undefined unless one of the keys has signed it under its own name, and each given witness too. */
export function openCheckpoint(text: string, verifiers: readonly Verifier[]): Checkpoint | undefined {
  const checkpoint = parseCheckpoint(text);
  if (!checkpoint) return undefined;
  const verified = verifiedBy(checkpoint.note, verifiers);
  const isSigned = verified.some(({ name, isWitness }) => !isWitness && name === checkpoint.origin);
  const isWitnessed = verifiers.every((each) => !each.isWitness || verified.includes(each));
  return isSigned && isWitnessed ? checkpoint : undefined;
}

function parseHash(line: string): Buffer | undefined {
  const bytes = Buffer.from(line, 'base64');
  return bytes.length === HASH_BYTES && bytes.toString('base64') === line ? bytes : undefined;
}

const PROOF_HEADER = 'c2sp.org/tlog-proof@v1';

export interface Proof {
  /** The entry itself, as the extra data of the proof. */
  readonly entry: Buffer;
  readonly index: number;
  readonly path: readonly Buffer[];
  /** A signed checkpoint. */
  readonly checkpoint: string;
}

export const formatProof = ({ entry, index, path, checkpoint }: Proof): string =>
  [
    PROOF_HEADER,
    `extra ${entry.toString('base64')}`,
    `index ${index}`,
    ...path.map((hash) => hash.toString('base64')),
    '',
    checkpoint,
  ].join('\n');

/** Parses a proof that contains its entry; undefined if it is malformed. */
export function parseProof(text: string): Proof | undefined {
  const end = text.indexOf('\n\n');
  const [header, extra = '', index = '', ...lines] = text.slice(0, end).split('\n');
  const path = lines.map(parseHash);
  const [, entry] = /^extra ([A-Za-z0-9+/]+={0,2})$/.exec(extra) ?? [];
  const [, number] = /^index (0|[1-9]\d{0,15})$/.exec(index) ?? [];
  if (end < 0 || header !== PROOF_HEADER || entry === undefined || number === undefined || path.includes(undefined))
    return undefined;
  const hashes = path.flatMap((hash) => hash ?? []);
  return { entry: Buffer.from(entry, 'base64'), index: Number(number), path: hashes, checkpoint: text.slice(end + 2) };
}

/** Returns the checkpoint that includes the entry of a proof; undefined if the proof does not show it. */
export function verifyProof(
  { entry, index, path, checkpoint }: Proof,
  verifiers: readonly Verifier[],
): Checkpoint | undefined {
  const opened = openCheckpoint(checkpoint, verifiers);
  return opened && verifyInclusion(hashLeaf(entry), index, opened.size, path, opened.root) ? opened : undefined;
}
