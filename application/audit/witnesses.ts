/**
 * Witnesses of the transparency log (C2SP `tlog-witness`): servers of others that cosign a checkpoint if it extends the last
 * one they have seen, so that no two histories can be shown to two auditors.
 */
import type { Logger } from '../ports/index.js';
import { parseCheckpoint } from './checkpoint.js';
import { consistencyProof } from './merkle-tree.js';
import { parseNote, type Verifier, verifiedBy } from './signed-note.js';
import { nodeReader } from './tiles.js';
import type { TreeHead, TreeStore } from './tree-store.js';

export interface Witness {
  readonly verifier: Verifier;
  /**
   * Sends a checkpoint with a proof that it extends an older one. Resolves with lines of signatures, or with the size of the
   * checkpoint that the proof must start from. Rejects with the reason if the witness does not cosign.
   */
  readonly addCheckpoint: (request: string, signal: AbortSignal) => Promise<string | number>;
}

/** Signatures looked at under the name of a witness, which may have keys of other types too. */
const MAX_LINES = 8;

interface WitnessPorts {
  readonly store: TreeStore;
  readonly witnesses: readonly Witness[];
  readonly logger: Logger;
}

/**
 * The newest checkpoint that counts: signed, and cosigned by more than half of the witnesses if there are any; undefined if
 * there is none yet.
 */
export function publishedCheckpoint(
  { checkpoint, cosigned }: Pick<TreeHead, 'checkpoint' | 'cosigned'>,
  witnesses: readonly Pick<Witness, 'verifier'>[],
): string | undefined {
  if (witnesses.length === 0) return checkpoint;
  return cosigned !== undefined && cosignersOf(cosigned, witnesses).size > witnesses.length / 2 ? cosigned : undefined;
}

function cosignersOf(cosigned: string, witnesses: readonly Pick<Witness, 'verifier'>[]): ReadonlySet<Verifier> {
  const verifiers = witnesses.map(({ verifier }) => verifier);
  const note = parseNote(cosigned);
  return new Set(note && verifiedBy(note, verifiers));
}

/**
 * Has the newest checkpoint cosigned by all witnesses that have not yet done so, and stores it with the cosignatures once more
 * than half of the witnesses gave one.
 */
export async function cosignNewest({ store, witnesses, logger }: WitnessPorts, signal: AbortSignal): Promise<void> {
  if (witnesses.length === 0) return;
  const { checkpoint, cosigned = '' } = (await store.head()) ?? {};
  if (checkpoint === undefined) return;
  const present = cosigned.startsWith(checkpoint) ? cosigned : checkpoint;
  const cosigners = cosignersOf(present, witnesses);
  const missing = witnesses.filter(({ verifier }) => !cosigners.has(verifier));
  const cosignatures = await Promise.all(
    missing.map(async (witness) => {
      try {
        return [await cosignatureOf(witness, checkpoint, cosigned, store, signal)];
      } catch (err) {
        if (!signal.aborted)
          logger.warn({ err, witness: witness.verifier.name }, 'a witness of the transparency log does not cosign');
        return [];
      }
    }),
  );
  const next = `${present}${cosignatures.flat().join('')}`;
  if (next !== present && publishedCheckpoint({ cosigned: next }, witnesses)) await store.setCosigned(next);
}

async function cosignatureOf(
  { verifier, addCheckpoint }: Witness,
  checkpoint: string,
  cosigned: string,
  { readTile }: TreeStore,
  signal: AbortSignal,
): Promise<string> {
  const { size } = parseCheckpoint(checkpoint)!;
  const submit = async (oldSize: number) => {
    const proof = await consistencyProof(oldSize, size, nodeReader(size, readTile));
    const hashes = proof.map((hash) => `${hash.toString('base64')}\n`).join('');
    return addCheckpoint(`old ${oldSize}\n${hashes}\n${checkpoint}`, signal);
  };
  const last = parseCheckpoint(cosigned);
  const isLast = last && verifiedBy(last.note, [verifier]).length > 0;
  let answer = await submit(isLast ? last.size : 0);
  if (typeof answer === 'number' && answer <= size) answer = await submit(answer);
  if (typeof answer === 'number')
    throw new Error(`it has cosigned another log of ${answer} entries under this name; this one has ${size}`);
  // Of other witnesses there may be any number.
  const lines = answer.split('\n').filter((line) => line.startsWith(`— ${verifier.name} `));
  const cosignature = lines.slice(0, MAX_LINES).find((line) => {
    const note = parseNote(`${checkpoint}${line}\n`);
    return note && verifiedBy(note, [verifier]).length > 0;
  });
  if (cosignature === undefined) throw new Error('the response contains no valid cosignature of its key');
  return `${cosignature}\n`;
}
