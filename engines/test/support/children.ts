/** Kills the child processes that tests start when the test run ends, however it ends. */
import type { ChildProcess } from 'node:child_process';

const children = new Set<ChildProcess>();

/** Flags of this process that tell V8 when to optimize code, for the processes it starts. */
export const COMPILER_FLAGS = process.execArgv.filter((flag) => flag.startsWith('--interrupt-budget'));

process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

// By default these signals end a process without an `exit` event.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

/** Registers a child to be killed when this process ends, and returns it. */
export function killOnExit<Child extends ChildProcess>(child: Child): Child {
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}
