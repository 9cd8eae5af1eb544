/** Requests that the parser lets through although they can't be understood, or mean somebody else than their header says. */
import type { Context } from 'koa';
import { type Problem, problem } from '../server/problem.js';

const NO_HOST = problem(400, 'The Host header is missing');
const SEVERAL_HOSTS = problem(400, 'There is more than one Host header');
const NO_TARGET = problem(400, 'The target of the request is invalid');

export function malformed(ctx: Context): Problem | undefined {
  if (!isReadable(ctx)) return NO_TARGET;
  const { httpVersion, headers, rawHeaders } = ctx.req;
  // HTTP/1.0 has no Host; later versions need one, and two would be read differently by different readers.
  if (headers.host === undefined) return httpVersion === '1.0' ? undefined : NO_HOST;
  return timesNamed('host', rawHeaders) > 1 ? SEVERAL_HOSTS : undefined;
}

/** Names and values by turns; no list is made, as it is done for every request. */
function timesNamed(name: string, rawHeaders: readonly string[]): number {
  let times = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const each = rawHeaders[index]!;
    if (each.length === name.length && each.toLowerCase() === name) times++;
  }
  return times;
}

/**
 * The host that a request is for. An absolute target names it, as for a proxy, and what the header says does not count
 * then (RFC 9112, 3.2.2).
 */
export function hostOf({ url = '', headers }: Context['req']): string | undefined {
  if (url.startsWith('/')) return headers.host;
  return /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1] ?? headers.host;
}

/** An absolute target may be no URL, or have no path (`http://`); koa only finds out when it is asked for a part of it. */
function isReadable(ctx: Context): boolean {
  try {
    return typeof ctx.path === 'string';
  } catch {
    return false;
  }
}
