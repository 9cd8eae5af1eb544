/** Time ranges: relative to now, absolute, or everything; in the address, in words, and as instants. */
import { language } from '../../shared/language.js';
import { texts } from '../texts.js';

export type Range =
  | { readonly kind: 'relative'; readonly text: string; readonly ms: number }
  | { readonly kind: 'absolute'; readonly from: number; readonly to: number }
  | { readonly kind: 'all' };

const UNITS: { readonly [unit: string]: number } = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

export const QUICK_RANGES = ['5m', '15m', '1h', '6h', '24h', '7d', '30d', '90d'] as const;
export const DEFAULT_RANGE = '24h';

/** `15m`, `24h`, `7d` or `2w`; undefined for anything else. */
export function relativeRange(text: string): Range | undefined {
  const [, count = '', unit = ''] = /^(\d{1,4})([smhdw])$/.exec(text.trim()) ?? [];
  const ms = Number(count) * (UNITS[unit] ?? Number.NaN);
  return ms > 0 ? { kind: 'relative', text: text.trim(), ms } : undefined;
}

const FALLBACK = relativeRange(DEFAULT_RANGE)!;

/** Reads `range`, or `from` and `to`, of the address. */
export function rangeFrom(query: URLSearchParams): Range {
  const [from, to] = [query.get('from'), query.get('to')].map((text) => Date.parse(text ?? ''));
  if (Number.isFinite(from) && Number.isFinite(to)) return absoluteRange(from!, to!);
  const text = query.get('range') ?? '';
  return text === 'all' ? { kind: 'all' } : (relativeRange(text) ?? FALLBACK);
}

/** An absolute range, whichever bound is given first. */
export const absoluteRange = (a: number, b: number): Range => ({
  kind: 'absolute',
  from: Math.min(a, b),
  to: Math.max(a, b),
});

export function rangeParameters(range: Range): { readonly [name: string]: string } {
  if (range.kind === 'absolute')
    return { from: new Date(range.from).toISOString(), to: new Date(range.to).toISOString() };
  return { range: range.kind === 'all' ? 'all' : range.text };
}

/** Instants in Unix ms, both inclusive; undefined is unbounded. */
export interface Bounds {
  readonly from?: number;
  readonly to?: number;
}

export function boundsOf(range: Range, now: number): Bounds {
  if (range.kind === 'all') return {};
  if (range.kind === 'absolute') return { from: range.from, to: range.to };
  return { from: now - range.ms };
}

/** The range of twice the length with the same middle; everything stays everything. */
export function widerRange(range: Range, now: number): Range {
  if (range.kind === 'all') return range;
  const [from, to] = range.kind === 'absolute' ? [range.from, range.to] : [now - range.ms, now];
  const margin = Math.max(30_000, (to - from) / 2);
  return absoluteRange(from - margin, Math.min(to + margin, now));
}

const sameDay = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });

/** `Last 24 hours`, or both instants. */
export function describeRange(range: Range): string {
  if (range.kind === 'all') return texts.time.all;
  if (range.kind === 'absolute') return sameDay.formatRange(range.from, range.to);
  const [, count = '', unit = ''] = /^(\d+)(\w)$/.exec(range.text) ?? [];
  return texts.time.last(Number(count), unit);
}

/** Value of a `datetime-local` field, in the local zone. */
export function localInput(ms: number): string {
  const offsetMs = new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(ms - offsetMs).toISOString().slice(0, 19);
}

const pad = (value: number) => String(value).padStart(2, '0');

/** `2026-11-27` in the local zone. */
export function localDate(ms: number): string {
  const date = new Date(ms);
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
}

/** Name and offset of the local zone. */
export function zoneName(): string {
  const minutes = -new Date().getTimezoneOffset();
  const offset = `UTC${minutes < 0 ? '−' : '+'}${pad(Math.floor(Math.abs(minutes) / 60))}:${pad(Math.abs(minutes) % 60)}`;
  const name = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return name === 'UTC' ? name : `${name}, ${offset}`;
}
