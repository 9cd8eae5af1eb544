/** Which part of something that has a tag is asked for, if any of it is (RFC 9110: preconditions, one range of bytes). */
import { type Problem, problem } from './problem.js';

export interface Tagged {
  /** In quotes; another one for other bytes. */
  readonly etag: string;
  /** In bytes. */
  readonly size: number;
}

export type Part =
  | { readonly status: 304; readonly headers: Headers }
  /** The bytes from `from` to before `to`. */
  | { readonly status: 200 | 206; readonly from: number; readonly to: number; readonly headers: Headers };

type Headers = { readonly [name: string]: string };
type Asked = { readonly method: string; readonly headers: { readonly [name: string]: string | undefined } };

const RANGE = /^bytes=(?<from>\d*)-(?<to>\d*)$/i;

/** What is answered of it; 416 for a part that it has not. Several ranges at once, or none that can be read, are all of it. */
export function partOf({ method, headers }: Asked, { etag, size }: Tagged): Part | Problem {
  const tags = { ETag: etag, 'Accept-Ranges': 'bytes' };
  if (isKnown(headers['if-none-match'], etag)) return { status: 304, headers: tags };
  const all = { status: 200, from: 0, to: size, headers: tags } as const;
  const { range, 'if-range': ifRange } = headers;
  if (method !== 'GET' || range === undefined || (ifRange !== undefined && ifRange.trim() !== etag)) return all;
  const { from = '', to = '' } = RANGE.exec(range.trim())?.groups ?? {};
  if (from === '' && to === '') return all;
  // Without a beginning it is so many of the last bytes.
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  if (from !== '' && to !== '' && Number(to) < Number(from)) return all;
  if (first > last) return problem(416, 'There is no such part', { headers: { 'Content-Range': `bytes */${size}` } });
  const told = { ...tags, 'Content-Range': `bytes ${first}-${last}/${size}` };
  return { status: 206, from: first, to: last + 1, headers: told };
}

/** Compared as weak tags are: what goes over the wire is the same. */
export const isKnown = (ifNoneMatch = '', etag: string): boolean =>
  ifNoneMatch.split(',').some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === etag);
