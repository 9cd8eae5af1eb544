/** The road of a command on the parts of a kernel, or on others in the place of some. */
import { createHandle, type HandleOptions } from '../../application/command/handle.js';
import { createRepetition } from '../../application/command/repetition.js';
import type { Clock } from '../../application/ports.js';
import { quiet } from './engines.js';

type Parts = Pick<HandleOptions, 'log' | 'streams'> &
  Partial<HandleOptions> & {
    readonly clock?: Clock;
  };

/** What runs commands, and what finds those that ran before. */
export function commandsOf({ clock = Date, appended = () => {}, ...parts }: Parts) {
  const repetition = createRepetition({ streams: parts.streams, clock, appended });
  const common = { release: 'test', logger: quiet, conflicted() {} };
  return { repetition, handle: createHandle({ ...common, ...parts, appended, repetition }) };
}
