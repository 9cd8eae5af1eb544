/** Signed notes of C2SP `signed-note` with Ed25519: a text, and the signatures of named keys and witnesses. */
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';

/** Types of a signature and of its key: of a log, and of a witness (C2SP `tlog-cosignature`), which signs the time as well. */
const ED25519 = 0x01;
const COSIGNATURE = 0x04;

/** Bytes of the key id of a signature, and of the time of a cosignature, Unix s. */
const ID_BYTES = 4;
const TIME_BYTES = 8;

const PRIVATE_KEY_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_KEY_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

const DASH = '—';
const KEY_NAME = /^[^\s+\p{Cc}]+$/u;
const VERIFIER = /^([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})$/u;
const SIGNATURE = /^— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})$/u;
const MAX_SIGNATURES = 64;

export interface Verifier {
  readonly name: string;
  /** `name+hash+base64`. */
  readonly line: string;
  readonly id: Buffer;
  readonly key: KeyObject;
  /** Whether it is the key of a witness, which signs checkpoints of logs. */
  readonly isWitness: boolean;
}

export interface Signer {
  readonly verifier: Verifier;
  /** Returns the line of the signature, with its newline. */
  sign(text: string): string;
}

export const isKeyName = (name: string): boolean => KEY_NAME.test(name);

function verifierOf(name: string, type: number, raw: Buffer): Verifier {
  const typed = Buffer.concat([Buffer.of(type), raw]);
  const id = hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), typed]), 'buffer').subarray(0, ID_BYTES);
  const key = createPublicKey({ key: Buffer.concat([PUBLIC_KEY_PREFIX, raw]), format: 'der', type: 'spki' });
  const line = `${name}+${id.toString('hex')}+${typed.toString('base64')}`;
  return { name, line, id, key, isWitness: type === COSIGNATURE };
}

/** Parses a verifier key line; undefined if it is not that of an Ed25519 key. */
export function parseVerifier(line: string): Verifier | undefined {
  const [, name, id, typed] = VERIFIER.exec(line.trim()) ?? [];
  if (name === undefined || typed === undefined) return undefined;
  const bytes = Buffer.from(typed, 'base64');
  const [type] = bytes;
  if (bytes.length !== 33 || (type !== ED25519 && type !== COSIGNATURE)) return undefined;
  const verifier = verifierOf(name, type, bytes.subarray(1));
  return verifier.id.toString('hex') === id ? verifier : undefined;
}

/** @param seed 32 bytes, the private key of RFC 8032. */
export function createSigner(name: string, seed: Buffer): Signer {
  if (!isKeyName(name)) throw new TypeError(`${name} cannot name a key`);
  const key = createPrivateKey({ key: Buffer.concat([PRIVATE_KEY_PREFIX, seed]), format: 'der', type: 'pkcs8' });
  const raw = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(PUBLIC_KEY_PREFIX.length);
  const verifier = verifierOf(name, ED25519, raw);
  return {
    verifier,
    sign(text) {
      const signature = Buffer.concat([verifier.id, sign(null, Buffer.from(text), key)]);
      return `${DASH} ${name} ${signature.toString('base64')}\n`;
    },
  };
}

/** @param text Ends with a newline. */
export const signNote = (text: string, signers: readonly Signer[]): string =>
  `${text}\n${signers.map((signer) => signer.sign(text)).join('')}`;

export interface Note {
  /** With its final newline. */
  readonly text: string;
  readonly signatures: readonly { readonly name: string; readonly bytes: Buffer }[];
}

/** Splits a note without verifying it; undefined if it is malformed. */
export function parseNote(note: string): Note | undefined {
  const end = note.lastIndexOf('\n\n');
  if (end < 0 || !note.endsWith('\n')) return undefined;
  const lines = note.slice(end + 2, -1).split('\n');
  const signatures = lines.flatMap((line) => {
    const [, name, encoded] = SIGNATURE.exec(line) ?? [];
    const bytes = Buffer.from(encoded ?? '', 'base64');
    // Others refuse the whole note for one signature that is not encoded as the format has it.
    return name === undefined || bytes.toString('base64') !== encoded ? [] : [{ name, bytes }];
  });
  if (signatures.length !== lines.length || lines.length > MAX_SIGNATURES) return undefined;
  return { text: note.slice(0, end + 1), signatures };
}

/** The verifiers whose valid signatures a note has. None if a signature of one of them is invalid. */
export function verifiedBy({ text, signatures }: Note, verifiers: readonly Verifier[]): readonly Verifier[] {
  const verified: Verifier[] = [];
  for (const { name, bytes } of signatures) {
    const verifier = verifiers.find((each) => each.name === name && each.id.equals(bytes.subarray(0, ID_BYTES)));
    if (!verifier) continue;
    if (!isSignedBy(verifier, text, bytes.subarray(ID_BYTES))) return [];
    verified.push(verifier);
  }
  return verified;
}

function isSignedBy({ key, isWitness }: Verifier, text: string, bytes: Buffer): boolean {
  if (!isWitness) return verify(null, Buffer.from(text), key, bytes);
  if (bytes.length < TIME_BYTES) return false;
  const message = `cosignature/v1\ntime ${bytes.readBigUInt64BE()}\n${text}`;
  return verify(null, Buffer.from(message), key, bytes.subarray(TIME_BYTES));
}
