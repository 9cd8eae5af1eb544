/** `annals audit prove` and `annals audit consistency`: print proofs that can be checked without this installation. */
import { Argument, InvalidArgumentError } from 'commander';
import {
  type AuditPorts,
  consistencyProof,
  decodeBundle,
  formatProof,
  inclusionProof,
  nodeReader,
  type Proof,
  parseAuditEntry,
  parseCheckpoint,
  TILE_WIDTH,
} from '../../../application/audit/index.js';
import type { Position } from '../../../application/ports/index.js';
import type { Kernel } from '../../node/kernel.js';
import { AUDIT_SETTINGS } from '../../settings.js';
import type { Call, CommandSpec } from '../command.js';
import { Failed } from '../failure.js';
import { withTransparencyLog } from './transparency-log.js';

export const prove: CommandSpec = {
  description:
    'Prints a proof that an event is in the transparency log (C2SP tlog-proof): its entry, the path to the root and the ' +
    'checkpoint. "annals audit verify --proof" checks it with nothing but the key.',
  examples: [
    ['audit prove 48213', 'by its position, as "annals replay" prints it'],
    ['audit prove chat.message-8Yt...@0 > post.tlog-proof', 'by its stream and revision'],
  ],
  arguments: [new Argument('<event>', 'Position, or stream@revision')],
  reads: () => AUDIT_SETTINGS,
  run: ({ config: { values }, args: [event = ''] }: Call) =>
    withTransparencyLog(values, async ({ kernel, ports, head }) => {
      const position = await positionOf(kernel, event);
      process.stdout.write(formatProof(await proveEvent(ports, head.checkpoint, position)));
      return 0;
    }),
};

/** Returns the proof that the event at a position is in the tree of a checkpoint. Rejects with `Failed` if it is not. */
export async function proveEvent({ store }: AuditPorts, checkpoint: string, position: Position): Promise<Proof> {
  const { size } = parseCheckpoint(checkpoint)!;
  const bundle = (await store.findBundle(position)) ?? 0;
  const lines = decodeBundle((await store.readTile({ level: 'entries', index: bundle }, 0)) ?? Buffer.alloc(0)) ?? [];
  const offset = lines.findIndex((line) => {
    const entry = parseAuditEntry(line);
    return entry && 'position' in entry && entry.position === String(position);
  });
  const index = bundle * TILE_WIDTH + offset;
  if (offset < 0 || index >= size)
    throw new Failed(`no event at position ${position} is in the transparency log; events enter it within a minute`);
  const path = await inclusionProof(index, size, nodeReader(size, store.readTile));
  return { entry: lines[offset]!, index, path, checkpoint };
}

async function positionOf({ log }: Kernel, event: string): Promise<Position> {
  if (/^\d{1,19}$/.test(event)) return BigInt(event);
  const [, stream, revision] = /^([^@]+)@(\d{1,15})$/.exec(event) ?? [];
  if (stream === undefined) throw new Failed(`${event} must be a position or stream@revision`);
  const found = await log.read(stream, { from: Number(revision), limit: 1 });
  const [first] = typeof found === 'string' ? [] : found;
  if (first?.revision !== Number(revision))
    throw new Failed(`there is no event ${event} in the log; one that was removed can be found by its position`);
  return first.position;
}

export const consistency: CommandSpec = {
  description:
    'Prints the hashes which prove that the transparency log of one size extends that of a smaller one (RFC 6962, section ' +
    '2.1.2), one per line.',
  examples: [['audit consistency 1000 25000', 'two sizes of checkpoints']],
  arguments: [
    new Argument('<old>', 'Number of entries of the older checkpoint').argParser(size),
    new Argument('[new]', 'Number of entries of the newer one; default the newest').argParser(size),
  ],
  reads: () => AUDIT_SETTINGS,
  run: ({ config: { values }, args: [old = '', newer] }: Call) =>
    withTransparencyLog(values, async ({ ports, head }) => {
      const to = newer === undefined ? head.size : Number(newer);
      if (to > head.size || Number(old) > to)
        throw new Failed(`the transparency log has ${head.size} entries; the older size must be at most the newer one`);
      const proof = await consistencyProof(Number(old), to, nodeReader(to, ports.store.readTile));
      process.stdout.write(proof.map((hash) => `${hash.toString('base64')}\n`).join(''));
      return 0;
    }),
};

function size(text: string): string {
  if (/^\d{1,15}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be a number of entries.');
}
