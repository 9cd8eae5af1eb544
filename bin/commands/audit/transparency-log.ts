/** Opens the transparency log for commands, with or without a running server. */
import { readFileSync } from 'node:fs';
import { Option } from 'commander';
import { ConfigError } from '../../../adapters/platform/config/config-error.js';
import {
  type AuditPorts,
  catchUpTransparencyLog,
  checkLastEvent,
  LogMismatchError,
  parseVerifier,
  publishedCheckpoint,
  type TreeHead,
  type Verifier,
} from '../../../application/audit/index.js';
import type { LeaderTask } from '../../../application/subscription/index.js';
import { withLease } from '../../../application/subscription/index.js';
import { AUDIT_LEASE, auditPorts } from '../../node/audit.js';
import type { Kernel } from '../../node/kernel.js';
import type { AnnalsValues } from '../../settings.js';
import { Failed, outsideCause } from '../failure.js';
import { withKernel } from '../stores.js';

export interface OpenedTransparencyLog {
  readonly kernel: Kernel;
  readonly ports: AuditPorts;
  readonly head: TreeHead & { readonly checkpoint: string };
  /** All keys of the installation; the last is in force. */
  readonly keys: readonly Verifier[];
}

/** Works on the transparency log, brought up to date unless a server does that. Rejects with `Failed` if there is none. */
export const withTransparencyLog = (
  values: AnnalsValues,
  work: (log: OpenedTransparencyLog) => Promise<number>,
): Promise<number> =>
  withKernel(values, async ({ kernel, logger }) => {
    const ports = auditPorts(kernel, values, logger);
    const catchUp = async () => {
      await checkLastEvent(ports);
      await runAlone(kernel, (_, stop) => catchUpTransparencyLog(ports, stop));
    };
    await catchUp().catch((error) => {
      if (!(error instanceof LogMismatchError)) throw error;
      process.stderr.write(`annals: ${error.message}\n`);
    });
    const head = await ports.store.head();
    const checkpoint = head && publishedCheckpoint(head, ports.witnesses);
    if (!head || checkpoint === undefined) throw new Failed(ports.witnesses.length > 0 ? NONE_COSIGNED : NONE_SIGNED);
    return work({ kernel, ports, head: { ...head, checkpoint }, keys: await keysOf(ports) });
  });

/** All keys of the installation; the last is in force. */
export async function keysOf({ store, signer }: AuditPorts): Promise<readonly Verifier[]> {
  const { keyNumber = 1 } = (await store.head()) ?? {};
  const keys: Verifier[] = [];
  for (let number = 1; number <= keyNumber; number++) keys.push((await signer(number)).verifier);
  return keys;
}

const NONE_SIGNED = 'the transparency log has no checkpoint yet; try again in a minute';
const NONE_COSIGNED =
  'witnesses have not cosigned a checkpoint yet; have they got the key that "annals audit key" prints? See the log of the server';

/** Runs a task under the lease of the transparency log; resolves with false if a server holds it. */
export const runAlone = async ({ leases }: Kernel, task: LeaderTask): Promise<boolean> =>
  (await withLease(leases, AUDIT_LEASE, new AbortController().signal, task)) !== undefined;

export const keyOption = new Option(
  '--key <line...>',
  'Verifier key of the transparency log, name+hash+base64, or a file with one per line',
).argParser((text: string, previous: readonly Verifier[] = []) => [...previous, ...verifiersIn(text)]);

function verifiersIn(text: string): readonly Verifier[] {
  const lines = text.includes('+') ? text : readText('--key', text);
  return lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const verifier = parseVerifier(line);
      if (!verifier) throw new ConfigError('--key', `must be a verifier key as "annals audit key" prints it`);
      return verifier;
    });
}

/** Reads a file that an option names. */
export function readText(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(option, `must be a readable file: ${outsideCause(error)}`);
  }
}
