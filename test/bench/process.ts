/** What a process has used so far, as Linux tells it. */
import { readFileSync } from 'node:fs';

/** Milliseconds of processor, the system's for it included. */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // Ticks are of 10 ms wherever Linux runs.
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** Anonymous memory in MB: mapped pages of a store are the system's, which takes them back when it needs them. */
export const anonymousMB = (pid: number): number =>
  Number(/Pss_Anon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) / 1024;
