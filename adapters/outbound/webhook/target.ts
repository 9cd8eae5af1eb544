/** What a webhook's URL leads to: looked up once and judged, so that the connection goes to what was judged. */
import { type LookupAddress, lookup } from 'node:dns';
import { promisify } from 'node:util';
import { readUrl } from '../../../domain/shared/index.js';
import { reachOf } from './address.js';

/** All addresses of a name, as the system's resolver gives them. Rejects when there are none. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface TargetRules {
  /** Private and loopback addresses are fine too. */
  readonly allowPrivate: boolean;
  readonly resolve: Resolve;
}

export interface Target {
  readonly url: URL;
  /** Every one of them may be called. */
  readonly addresses: readonly LookupAddress[];
}

/** Calling this URL is against the rules; the message says why, for people. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
}

const lookupAll = promisify(lookup);
export const systemResolve: Resolve = (hostname) => lookupAll(hostname, { all: true });

/** Rejects with `TargetRefused`, or with the resolver's error when the name can't be looked up. */
export async function targetOf(text: string, { allowPrivate, resolve }: TargetRules): Promise<Target> {
  const url = parsed(text);
  const { hostname } = url;
  // The URL parser has brought decimal, octal, hexadecimal and shortened IPv4 addresses to their one form.
  const addresses = await resolve(hostname.startsWith('[') ? hostname.slice(1, -1) : hostname);
  if (addresses.length === 0) throw new Error('the name has no address');
  for (const { address } of addresses) {
    const reach = reachOf(address);
    if (typeof reach === 'object') throw new TargetRefused(`it leads to ${reach.forbidden}`);
    if (reach === 'private' && !allowPrivate) throw new TargetRefused('it leads to a private address');
  }
  return { url, addresses };
}

function parsed(text: string): URL {
  const url = readUrl(text);
  if (!url) throw new TargetRefused('it is no valid URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new TargetRefused('it is neither http nor https');
  // `https://...` is a URL to the parser, and what people copy who have not filled in theirs yet.
  if (/^\.|\.\./.test(url.hostname)) throw new TargetRefused('it names no host');
  // They would stand in logs, answers and every proxy on the way.
  if (url.username || url.password) throw new TargetRefused('it holds credentials');
  return url;
}
