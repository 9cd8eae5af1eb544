/** Writes receipts of erasures (`annals erase ... --receipt`). */
import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from '../../../adapters/platform/config/config-error.js';
import {
  type AuditPorts,
  catchUpTransparencyLog,
  formatProof,
  formatReceipt,
  proveEvent,
  publishedCheckpoint,
} from '../../../application/audit/index.js';
import type { Logger, Position } from '../../../application/ports/index.js';
import { auditPorts } from '../../node/audit.js';
import type { Kernel } from '../../node/kernel.js';
import type { AnnalsValues } from '../../settings.js';
import { Failed, outsideCause } from '../failure.js';
import { runAlone } from './transparency-log.js';

/** What an event of this stored type erased, as receipts name it; undefined if it erases nothing that has receipts. */
export function erasedSubject(type: string, data: unknown): string | undefined {
  const { userId, roomId } = data as { readonly userId?: string; readonly roomId?: string };
  if (type.startsWith('chat.UserErased.')) return `user ${userId}`;
  return type.startsWith('meeting.MeetingErased.') ? `meeting ${roomId}` : undefined;
}

/** Rejects before anything is erased if receipts could not be written. */
export function prepareReceipts(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true });
    accessSync(directory, constants.W_OK);
  } catch (error) {
    throw new ConfigError('--receipt', `must be a directory to write to: ${outsideCause(error)}`);
  }
}

/** Longer than a server takes to sign its next checkpoint. */
const COVERED_MS = 120_000;
const RETRY_MS = 1000;

/** Writes a receipt for the event of an erasure at each position. The erasure has taken place, also if this fails. */
export async function writeReceipts(
  { kernel, logger }: { readonly kernel: Kernel; readonly logger: Logger },
  values: AnnalsValues,
  directory: string,
  positions: readonly Position[],
): Promise<void> {
  const ports = auditPorts(kernel, values, logger);
  for (const position of positions) {
    const { event } = await ports.eventAt(position);
    if (!event)
      throw new Failed(
        `the log does not have the event at ${position} as it was first stored, as after "annals migrate"`,
      );
    const { proof, keyNumber } = await waitForProof(kernel, ports, position);
    const data = String(event.data);
    const subject = erasedSubject(event.type, JSON.parse(data));
    if (subject === undefined) throw new Error(`${event.type} is no erasure`);
    const receipt = { subject, event: data, proof: formatProof(proof) };
    const path = join(directory, `${subject.replaceAll(' ', '-')}-${position}.receipt`);
    writeFileSync(path, formatReceipt(receipt, await ports.signer(keyNumber)));
    process.stdout.write(`receipt: ${path}\n`);
  }
}

/** Waits for a checkpoint that covers the event; signs it, unless a server will. */
async function waitForProof(kernel: Kernel, ports: AuditPorts, position: Position) {
  const until = performance.now() + COVERED_MS;
  for (let isFirst = true; performance.now() < until; isFirst = false) {
    await runAlone(kernel, (_, stop) => catchUpTransparencyLog(ports, stop));
    const head = await ports.store.head();
    const checkpoint = head && publishedCheckpoint(head, ports.witnesses);
    const proof = checkpoint === undefined ? undefined : await proveEvent(ports.store, checkpoint, position);
    if (head && proof) return { ...head, proof };
    if (isFirst)
      process.stderr.write(
        'annals: waiting up to a minute for the next checkpoint of the server; the erasure is done\n',
      );
    await delay(RETRY_MS);
  }
  throw new Failed('no checkpoint covers the erasure yet, so there is no receipt; see "annals audit prove"');
}
