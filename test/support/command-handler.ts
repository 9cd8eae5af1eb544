/** The road of a command on the parts of a kernel, or on others in the place of some. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { createHandleCommand, type HandleOptions } from '../../application/command/handle-command.js';
import { createIdempotency } from '../../application/command/idempotency.js';
import type { Clock } from '../../application/ports/index.js';

type Parts = Pick<HandleOptions, 'log' | 'streams'> &
  Partial<HandleOptions> & {
    readonly clock?: Clock;
  };

/** What runs commands, and what finds those that ran before. */
export function commandsOf({ clock = Date, appended = () => {}, ...parts }: Parts) {
  const idempotency = createIdempotency({ streams: parts.streams, clock, appended });
  const common = { release: 'test', logger: silentLogger, conflicted() {} };
  return { idempotency, handle: createHandleCommand({ ...common, ...parts, appended, idempotency }) };
}
