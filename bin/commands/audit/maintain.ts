/** `annals audit rotate` and `annals audit restart`: a new key, and a log that was restored from a backup. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  catchUpTransparencyLog,
  checkLastEvent,
  compareLog,
  Difference,
  LogMismatchError,
  openCheckpoint,
  parseCheckpoint,
  restartTransparencyLog,
  verifyTree,
} from '../../../application/audit/index.js';
import type { Position } from '../../../application/ports/index.js';
import { auditPorts } from '../../node/audit.js';
import { AUDIT_SETTINGS } from '../../settings.js';
import type { Call, CommandSpec } from '../command.js';
import { Failed } from '../failure.js';
import { withKernel } from '../stores.js';
import { runAlone, withTransparencyLog } from './transparency-log.js';

export const rotate: CommandSpec = {
  description:
    'Puts a new key in force for the next checkpoint. The key becomes an entry of the log, and the checkpoint with ' +
    'that entry is signed with both keys, so that whoever trusts the old key can trust the new one.',
  examples: [['audit rotate', '']],
  reads: () => AUDIT_SETTINGS,
  run: ({ config: { values } }: Call) =>
    withTransparencyLog(values, async ({ ports, head, keys }) => {
      // Otherwise no checkpoint would be signed with both the key that auditors have and the next one.
      if (!openCheckpoint(head.checkpoint, keys.slice(-1)))
        throw new Failed('the last new key has not signed a checkpoint that counts yet; wait a minute');
      await ports.store.nextKey();
      const { verifier } = await ports.signer(head.keyNumber + 1);
      process.stdout.write(`${verifier.line}\nsigns from the next checkpoint on\n`);
      return 0;
    }),
};

export const restart: CommandSpec = {
  description:
    'After the event log was restored from a backup: records that events which the transparency log has seen are lost, and ' +
    'continues after the last event that both have. The entries of the lost events stay. Stop all servers before.',
  examples: [['audit restart', '']],
  reads: () => AUDIT_SETTINGS,
  run: ({ config: { values } }: Call) =>
    withKernel(values, async ({ kernel, logger }) => {
      const ports = auditPorts(kernel, values, logger);
      const task = async (_: unknown, stop: AbortSignal) => {
        const head = await ports.store.head();
        if (head?.checkpoint === undefined) throw new Failed('there is no transparency log to restart');
        let last: Position = 0n;
        let isMatch = true;
        await checkLastEvent(ports).catch((error) => {
          if (!(error instanceof LogMismatchError)) throw error;
          isMatch = false;
        });
        const log = ports.followStored({ prefixes: ports.prefixes, from: 'start', signal: stop });
        const entries = verifyTree(parseCheckpoint(head.checkpoint)!, ports.store.readTile);
        const onMatch = (position: Position) => {
          last = position;
        };
        // The first difference ends the comparison.
        await compareLog(entries, log, { ...head, onMatch }).catch((error) => {
          if (!(error instanceof Difference)) throw error;
          isMatch = false;
        });
        if (isMatch)
          throw new Failed('the event log contains all that the transparency log covers; nothing to restart');
        await restartTransparencyLog(ports, last);
        await catchUpTransparencyLog(ports, stop);
        process.stdout.write(`the transparency log continues after position ${last}\n`);
      };
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (await runAlone(kernel, task)) return 0;
        await delay(RETRY_MS);
      }
      throw new Failed('a server is appending to the transparency log; stop all servers first');
    }),
};

/** Until the lease of a killed server expires. */
const ATTEMPTS = 12;
const RETRY_MS = 500;
