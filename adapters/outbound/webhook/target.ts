/** Resolves and checks the target of a webhook once, so that the connection goes to the checked addresses. */
import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIPv6 } from 'node:net';
import { promisify } from 'node:util';
import ipaddr from 'ipaddr.js';
import { readUrl } from '../../../domain/shared/index.js';

/** Resolves a name with the system's resolver. Rejects if it has no address. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface TargetRules {
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

export type Reach = 'public' | 'private' | { readonly forbidden: string };

const PRIVATE = new Set(['private', 'loopback', 'carrierGradeNat', 'uniqueLocal']);

const FORBIDDEN: { readonly [range: string]: string } = {
  linkLocal: 'a link-local address',
  multicast: 'a multicast address',
  broadcast: 'a broadcast address',
  unspecified: 'an unspecified address',
};

/** Cloud metadata services that are not link-local. */
const METADATA = new Set(
  ['100.100.100.200', '168.63.129.16', '192.0.0.192', 'fd00:ec2::254', 'fd20:ce::254'].map((address) =>
    ipaddr.parse(address).toNormalizedString(),
  ),
);

const NAT64 = ipaddr.parseCIDR('64:ff9b::/96');

/** Classifies an address in any textual form; anything else is forbidden. */
export function reachOf(address: string): Reach {
  if (!ipaddr.isValid(address)) return { forbidden: 'an invalid address' };
  const parsed = ipaddr.parse(address);
  if (isCompatible(address)) {
    // `::` is this machine, like 0.0.0.0.
    const isUnspecified = parsed
      .toByteArray()
      .slice(-4)
      .every((byte) => byte === 0);
    return isUnspecified ? { forbidden: 'an unspecified address' } : 'private';
  }
  return classify(parsed);
}

/** IPv4-compatible addresses. ipaddr.js parses ::1.2.3.4 as ::ffff:1.2.3.4, so the text is checked instead. */
const COMPATIBLE = new BlockList();
COMPATIBLE.addSubnet('::', 96, 'ipv6');

const isCompatible = (address: string) => {
  const [bare = ''] = address.split('%');
  return isIPv6(bare) && COMPATIBLE.check(bare, 'ipv6');
};

function classify(address: ipaddr.IPv4 | ipaddr.IPv6): Reach {
  const embedded = embeddedIn(address);
  if (embedded) return classify(embedded);
  if (METADATA.has(address.toNormalizedString())) return { forbidden: 'a metadata service' };
  const range = address.range();
  if (range === 'unicast') return 'public';
  if (PRIVATE.has(range)) return 'private';
  return { forbidden: FORBIDDEN[range] ?? 'a reserved address' };
}

/** Returns the embedded IPv4 address to which packets are routed. */
function embeddedIn(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | undefined {
  if (address instanceof ipaddr.IPv4) return undefined;
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  return address.match(NAT64) ? new ipaddr.IPv4(address.toByteArray().slice(12)) : undefined;
}
