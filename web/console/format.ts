/** Numbers, sizes and durations in the reader's language. */
import { language } from '../shared/language.js';

const integers = new Intl.NumberFormat(language, { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat(language, { maximumSignificantDigits: 3 });

/** Also a text of digits, which may be a number of 64 bits. */
export const formatCount = (value: number | string): string =>
  integers.format(typeof value === 'string' ? BigInt(value) : value);

export const formatNumber = (value: number): string => short.format(value);

export function formatBytes(bytes: number): string {
  const power = Math.min(3, Math.max(0, Math.floor(Math.log10(Math.max(bytes, 1)) / 3)));
  return `${short.format(bytes / 1000 ** power)} ${['B', 'KB', 'MB', 'GB'][power]}`;
}

/** `3 d 4 h`, `12 min`, `40 s`. */
export function formatDuration(seconds: number): string {
  const [days, hours, minutes] = [86_400, 3600, 60].map((unit) => Math.floor(seconds / unit)) as [
    number,
    number,
    number,
  ];
  if (days > 0) return `${days} d ${hours % 24} h`;
  if (hours > 0) return `${hours} h ${minutes % 60} min`;
  return minutes > 0 ? `${minutes} min` : `${Math.floor(seconds)} s`;
}

/** The first part of a node's name, which is a UUID. */
export const shortName = (node: string): string => node.slice(0, 8);
