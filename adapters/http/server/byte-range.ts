/** Evaluates conditional and range requests (RFC 9110: If-None-Match, If-Range, a single byte range). */
import { type Problem, problem } from './policy.js';

export interface Tagged {
  /** In quotes; changes with the content. */
  readonly etag: string;
  readonly size: number;
}

export type Selection =
  | { readonly status: 304; readonly headers: Headers }
  /** The bytes from `from` to before `to`. */
  | { readonly status: 200 | 206; readonly from: number; readonly to: number; readonly headers: Headers };

type Headers = { readonly [name: string]: string };
type RangeRequest = { readonly method: string; readonly headers: { readonly [name: string]: string | undefined } };

const RANGE = /^bytes=(?<from>\d*)-(?<to>\d*)$/i;

/** Selects the bytes to send. Unsatisfiable ranges are a 416; multiple or invalid ranges select everything. */
export function selectRange({ method, headers }: RangeRequest, { etag, size }: Tagged): Selection | Problem {
  const tags = { ETag: etag, 'Accept-Ranges': 'bytes' };
  if (etagMatches(headers['if-none-match'], etag)) return { status: 304, headers: tags };
  const all = { status: 200, from: 0, to: size, headers: tags } as const;
  const { range, 'if-range': ifRange } = headers;
  if (method !== 'GET' || range === undefined || (ifRange !== undefined && ifRange.trim() !== etag)) return all;
  const { from = '', to = '' } = RANGE.exec(range.trim())?.groups ?? {};
  if (from === '' && to === '') return all;
  // Without a start, the number of last bytes.
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (from !== '' && to !== '' && Number(to) < Number(from)) return all;
  if (first > last)
    return problem(416, 'The requested range is outside of the content', {
      headers: { 'Content-Range': `bytes */${size}` },
    });
  const rangeHeaders = { ...tags, 'Content-Range': `bytes ${first}-${last}/${size}` };
  return { status: 206, from: first, to: last + 1, headers: rangeHeaders };
}

/** Whether the client has this version, by weak comparison. */
export const etagMatches = (ifNoneMatch = '', etag: string): boolean =>
  ifNoneMatch.split(',').some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === etag);
