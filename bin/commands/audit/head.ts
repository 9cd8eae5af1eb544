/** `annals audit head` and `annals audit key`: print the newest checkpoint, and the key that verifies it. */
import { Option } from 'commander';
import { auditPorts } from '../../node/audit.js';
import { AUDIT_SETTINGS } from '../../settings.js';
import type { Call, CommandSpec } from '../command.js';
import { withKernel } from '../stores.js';
import { keysOf, withTransparencyLog } from './transparency-log.js';

export const head: CommandSpec = {
  description:
    'Prints the newest checkpoint of the transparency log: its name, the number of entries and the root of the Merkle tree, ' +
    'signed. Keep it outside: "annals audit verify --checkpoint" proves later that nothing it covers was changed. A ' +
    'running server signs one every 1,000 events or minute.',
  examples: [['audit head > head-2026-11-27', 'for someone outside to keep']],
  reads: () => AUDIT_SETTINGS,
  run: ({ config: { values } }: Call) =>
    withTransparencyLog(values, async ({ head: { checkpoint } }) => {
      process.stdout.write(checkpoint);
      return 0;
    }),
};

export const key: CommandSpec = {
  description:
    'Prints the key that verifies the checkpoints of the transparency log, as name+hash+base64. Whoever checks the log must ' +
    'have it from somewhere they trust.',
  examples: [
    ['audit key', ''],
    ['audit key --all', 'also those that signed before "annals audit rotate", the oldest first'],
  ],
  options: [new Option('--all', 'All keys of the installation, one per line, the oldest first')],
  reads: () => AUDIT_SETTINGS,
  run: ({ config: { values }, options }: Call) =>
    withKernel(values, async ({ kernel, logger }) => {
      const keys = await keysOf(auditPorts(kernel, values, logger));
      for (const { line } of options.all ? keys : keys.slice(-1)) process.stdout.write(`${line}\n`);
      return 0;
    }),
};
