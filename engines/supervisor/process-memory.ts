/** Measures the memory a process uses for itself. */
import { readFileSync } from 'node:fs';

/**
 * Anonymous resident memory in bytes, without mapped files. An engine maps its store, which the system may evict.
 * Undefined if the process has ended, or on any system but Linux.
 */
export function anonymousBytes(pid: number | undefined): number | undefined {
  try {
    const [, kilobytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
