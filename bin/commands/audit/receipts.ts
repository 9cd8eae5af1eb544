/** Writes receipts of erasures (`annals erase ... --receipt`). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
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
import { Failed } from '../failure.js';
import { runAlone } from './transparency-log.js';

/** Longer than a server takes to sign its next checkpoint. */
const COVERED_MS = 120_000;
const RETRY_MS = 1000;

/** Writes a receipt for the event of an erasure at each position. The erasure has taken place, also if this fails. */
export async function writeReceipts(
  { kernel, logger }: { readonly kernel: Kernel; readonly logger: Logger },
  values: AnnalsValues,
  directory: string,
  subject: string,
  positions: readonly Position[],
): Promise<void> {
  const ports = auditPorts(kernel, values, logger);
  mkdirSync(directory, { recursive: true });
  for (const position of positions) {
    const { event } = await ports.eventAt(position);
    const { proof, keyNumber } = await waitForProof(kernel, ports, position);
    if (!event) throw new Failed('the event of the erasure is not in the log; run "annals audit verify"');
    const receipt = { subject, event: String(event.data), proof: formatProof(proof) };
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
    if (isFirst) process.stderr.write('annals: waiting up to a minute for the next checkpoint of the server\n');
    await delay(RETRY_MS);
  }
  throw new Failed('no checkpoint covers the erasure yet, so there is no receipt; see "annals audit prove"');
}
