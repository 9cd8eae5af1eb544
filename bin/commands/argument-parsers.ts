/** Parses times and numbers of the command line. */
import { InvalidArgumentError } from 'commander';
import { parseQueryTime, parseTimestamp } from '../../domain/logs/timestamp.js';

export { parseTimestamp };

export const INSTANT = 'ISO 8601, Unix ms, or an age such as 90s, 15m, 2h, 7d';

const UNITS: { readonly [unit: string]: number } = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/**
 * Parses to Unix ms, as UTC unless the text has an offset.
 *
 * @param end Whether a date without a time means the end of its day or the start.
 */
export const instant =
  (end: boolean) =>
  (text: string): number => {
    const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
    const time = count === undefined ? parseQueryTime(text, end) : Date.now() - Number(count) * UNITS[unit]!;
    if (time === undefined) throw new InvalidArgumentError(`It must be a time: ${INSTANT}.`);
    return time;
  };

/** Parses a whole number. */
export const wholeNumberFrom =
  (min: 0 | 1) =>
  (text: string): number => {
    if (/^(?:0|[1-9]\d{0,8})$/.test(text) && Number(text) >= min) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number of at least ${min}.`);
  };

export const wholeNumber = wholeNumberFrom(1);

/** Parses a number of the command line within a range. */
export const between =
  (min: number, max: number, isWhole: boolean) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+(\.\d+)?$/.test(text) && value >= min && value <= max && (!isWhole || Number.isInteger(value)))
      return value;
    throw new InvalidArgumentError(`It must be between ${min} and ${max}.`);
  };
