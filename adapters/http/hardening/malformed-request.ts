/** Finds requests with an invalid or ambiguous target or host, which node's parser accepts. */
import type { Context } from 'koa';
import { type Problem, problem } from '../server/problem.js';

const NO_HOST = problem(400, 'The Host header is missing');
const SEVERAL_HOSTS = problem(400, 'The request has more than one Host header');
const NO_TARGET = problem(400, 'The target of the request is invalid');

export function findMalformation(ctx: Context): Problem | undefined {
  if (!isReadable(ctx)) return NO_TARGET;
  const { httpVersion, headers, rawHeaders } = ctx.req;
  // HTTP/1.0 has no Host. Later versions require exactly one: proxies disagree on which of two counts.
  if (headers.host === undefined) return httpVersion === '1.0' ? undefined : NO_HOST;
  return countHeaders('host', rawHeaders) > 1 ? SEVERAL_HOSTS : undefined;
}

/** `rawHeaders` alternates names and values. Allocates nothing, as it runs for every request. */
function countHeaders(name: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const each = rawHeaders[index]!;
    if (each.length === name.length && each.toLowerCase() === name) count++;
  }
  return count;
}

/**
 * The host a request is for. An absolute target, as sent to proxies, takes precedence over the header (RFC 9112,
 * 3.2.2).
 */
export function hostOf({ url = '', headers }: Context['req']): string | undefined {
  if (url.startsWith('/')) return headers.host;
  return /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1] ?? headers.host;
}

/** An absolute target may be an invalid URL or have no path (`http://`); koa throws only when it is accessed. */
function isReadable(ctx: Context): boolean {
  try {
    return typeof ctx.path === 'string';
  } catch {
    return false;
  }
}
