/** `annals audit prove` and `annals audit consistency`: print proofs that can be checked without this installation. */
import { Argument, InvalidArgumentError } from 'commander';
import {
  consistencyProof,
  formatProof,
  nodeReader,
  parseCheckpoint,
  proveEvent,
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
      const proof = await proveEvent(ports.store, head.checkpoint, position);
      if (!proof) {
        const later = position > head.position ? '; events enter one within a minute' : '';
        throw new Failed(`no event at position ${position} is in the newest checkpoint${later}`);
      }
      process.stdout.write(formatProof(proof));
      return 0;
    }),
};

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
      const { size } = parseCheckpoint(head.checkpoint)!;
      const to = newer === undefined ? size : Number(newer);
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
