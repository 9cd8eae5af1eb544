/** Points in time as people write them after a flag. */
import { InvalidArgumentError } from 'commander';
import { instantOfQuery, parseTimestamp } from '../../domain/logs/timestamp.js';

export { parseTimestamp };

export const INSTANT = 'ISO 8601, Unix ms, or an age such as 90s, 15m, 2h, 7d';

const UNITS: { readonly [unit: string]: number } = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Unix ms. Without an offset it is UTC, and a date stands for its whole day: `end` says which end of it. */
export const instant =
  (end: boolean) =>
  (text: string): number => {
    const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
    const found = count === undefined ? instantOfQuery(text, end) : Date.now() - Number(count) * UNITS[unit]!;
    if (found === undefined) throw new InvalidArgumentError(`It must be a time: ${INSTANT}.`);
    return found;
  };
