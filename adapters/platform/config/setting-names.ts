/** Converts between the names of a setting: `rooms.maxTtlMs`, `ANNALS_ROOMS_MAX_TTL_MS`, `--rooms-max-ttl-ms`. */
import type { Setting, Settings } from '../../../application/config/setting.js';

const words = (key: string) => key.split('.').flatMap((part) => part.split(/(?=[A-Z])/));

export const envName = (key: string): string => `ANNALS_${words(key).join('_').toUpperCase()}`;
export const flagName = (key: string): string => `--${words(key).join('-').toLowerCase()}`;

export const envNames = (key: string, { alias }: Setting): readonly string[] =>
  alias ? [envName(key), alias.env] : [envName(key)];
export const flagNames = (key: string, { alias }: Setting): readonly string[] =>
  alias ? [flagName(key), alias.flag] : [flagName(key)];

/** Maps one kind of name to setting keys. */
export const byName = (
  settings: Settings,
  names: (key: string, setting: Setting) => readonly string[],
): ReadonlyMap<string, string> =>
  new Map(Object.entries(settings).flatMap(([key, setting]) => names(key, setting).map((name) => [name, key])));

/** Returns the most similar name, if any is similar, as the end of a sentence. */
export function suggestion(wrong: string, names: Iterable<string>): string {
  let best: string | undefined;
  let least = Math.min(4, Math.ceil(wrong.length / 3)) + 1;
  for (const name of names) {
    const distance = editDistance(wrong.toLowerCase(), name.toLowerCase());
    if (distance < least) [best, least] = [name, distance];
  }
  return best === undefined ? '' : `; did you mean ${best}?`;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
