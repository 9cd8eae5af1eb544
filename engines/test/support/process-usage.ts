/** Measures what a process has used so far (Linux only). */
import { readFileSync } from 'node:fs';

/** Milliseconds of processor time, including system time. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // A tick is 10 ms on every Linux platform.
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** Bytes written to files and sockets. */
export const writtenBytes = (pid: number): number =>
  Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);

/** Anonymous memory in MB, without mapped pages of a store, which the system may evict. */
export const anonymousMB = (pid: number): number =>
  Number(/Pss_Anon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024;

/** Samples the peak resident memory of the service and of its engines. */
export function watchMemory({
  child,
  enginePids,
}: {
  readonly child: { readonly pid?: number };
  readonly enginePids: readonly number[];
}) {
  const peaks = new Map<number, number>();
  const timer = setInterval(() => {
    for (const pid of [child.pid ?? 0, ...enginePids]) {
      try {
        const [, kb = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
        peaks.set(pid, Math.max(peaks.get(pid) ?? 0, Math.round(Number(kb) / 1024)));
      } catch {
        // Not Linux, or the process has ended.
      }
    }
  }, 100);
  return {
    peak: () => peaks.get(child.pid ?? 0) ?? 0,
    engines: () => enginePids.map((pid) => peaks.get(pid)).join(' + '),
    stop: () => clearInterval(timer),
  };
}
