/** What memory a process takes for itself. */
import { readFileSync } from 'node:fs';

/**
 * In bytes, without the files that it maps: of an engine those are its store, which the system keeps in memory as long as
 * nobody else needs that. Undefined where the process has gone, or the system does not tell (any but Linux).
 */
export function anonymousBytes(pid: number | undefined): number | undefined {
  try {
    const [, kilobytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
