/** Bucket widths of time histograms. */

const UNITS: { readonly [unit: string]: number } = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Allowed intervals, for error messages. */
export const INTERVAL_FORMAT = 'minutes, hours or a day: 1m to 1d';

/** Milliseconds of `5m`, `2h` or `1d`; undefined for anything else, and for more than a day. */
export function parseInterval(text: string): number | undefined {
  const [, count = '', unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS[unit] ?? Number.NaN);
  return ms > 0 && ms <= UNITS.d! ? ms : undefined;
}
