/** What a process has used so far, as Linux tells it. */
import { readFileSync } from 'node:fs';

/** Milliseconds of processor, the system's for it included. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // Ticks are of 10 ms wherever Linux runs.
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** Bytes that it has handed to the system to be written, to files and sockets. */
export const writtenBytes = (pid: number): number =>
  Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);

/** Anonymous memory in MB: mapped pages of a store are the system's, which takes them back when it needs them. */
export const anonymousMB = (pid: number): number =>
  Number(/Pss_Anon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024;

/** Resident memory of the service and of its engines, sampled. */
export function watchMemory({
  child,
  enginePids,
}: {
  readonly child: { readonly pid?: number };
  readonly enginePids: readonly number[];
}) {
  const most = new Map<number, number>();
  const timer = setInterval(() => {
    for (const pid of [child.pid ?? 0, ...enginePids]) {
      try {
        const [, kb = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
        most.set(pid, Math.max(most.get(pid) ?? 0, Math.round(Number(kb) / 1024)));
      } catch {
        // Not on this system, or gone.
      }
    }
  }, 100);
  return {
    most: () => most.get(child.pid ?? 0) ?? 0,
    engines: () => enginePids.map((pid) => most.get(pid)).join(' + '),
    stop: () => clearInterval(timer),
  };
}
