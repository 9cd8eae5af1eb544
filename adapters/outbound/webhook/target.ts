/** Resolves and checks the target of a webhook once, so that the connection goes to the checked addresses. */
import { type LookupAddress, lookup } from 'node:dns';
import { promisify } from 'node:util';
import { readUrl } from '../../../domain/shared/index.js';
import { reachOf } from './address.js';

/** Resolves a name with the system's resolver. Rejects if it has no address. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface TargetRules {
  /** Also allows private and loopback addresses. */
  readonly allowPrivate: boolean;
  readonly resolve: Resolve;
}

export interface Target {
  readonly url: URL;
  /** Checked addresses; each may be called. */
  readonly addresses: readonly LookupAddress[];
}

/** The URL is not allowed; the message is for users. */
export class TargetRefused extends Error {
  override readonly name = 'TargetRefused';
}

const lookupAll = promisify(lookup);
export const systemResolve: Resolve = (hostname) => lookupAll(hostname, { all: true });

/** Checks a URL. Rejects with `TargetRefused`, or with the resolver's error. */
export async function targetOf(text: string, { allowPrivate, resolve }: TargetRules): Promise<Target> {
  const url = parseTarget(text);
  const { hostname } = url;
  // The URL parser normalises decimal, octal, hexadecimal and shortened IPv4 addresses.
  const addresses = await resolve(hostname.startsWith('[') ? hostname.slice(1, -1) : hostname);
  if (addresses.length === 0) throw new Error('the name has no address');
  for (const { address } of addresses) {
    const reach = reachOf(address);
    if (typeof reach === 'object') throw new TargetRefused(`it leads to ${reach.forbidden}`);
    if (reach === 'private' && !allowPrivate) throw new TargetRefused('it leads to a private address');
  }
  return { url, addresses };
}

function parseTarget(text: string): URL {
  const url = readUrl(text);
  if (!url) throw new TargetRefused('it is no valid URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new TargetRefused('it is neither http nor https');
  // `https://...` parses as a URL and is a common unfilled placeholder.
  if (/^\.|\.\./.test(url.hostname)) throw new TargetRefused('it names no host');
  // Credentials would appear in logs, responses and proxies.
  if (url.username || url.password) throw new TargetRefused('it holds credentials');
  return url;
}
