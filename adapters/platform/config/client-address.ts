/** The address of the client: the socket's, or what proxies we trust say about it. */
import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';

export type ClientAddress = (socketAddress: string, forwardedFor: string | undefined) => string;

/**
 * `trusted` are addresses and CIDR blocks; throws on anything else. `doubted` is told, once, of a proxy on this machine
 * that is none of them: whoever comes through it counts as one.
 */
export function createClientAddress(trusted: readonly string[], doubted = () => {}): ClientAddress {
  const isTrusted = isTrustedBy(trusted);
  let told = false;
  return (socketAddress, forwardedFor) => {
    let address = plain(socketAddress);
    if (!told && forwardedFor !== undefined && !isTrusted(address) && isLoopback(address)) {
      told = true;
      doubted();
    }
    if (forwardedFor === undefined || trusted.length === 0) return address;
    // From the right, each entry was written by the hop after it: believed as long as that hop is ours.
    for (const entry of forwardedFor.split(',').reverse()) {
      if (!isTrusted(address)) break;
      const said = plain(entry.trim());
      if (isIP(said) === 0) break;
      address = said;
    }
    return address;
  };
}

const KNOWN = 500;
/** With a port; what is longer is no address. */
const LONGEST = 60;

/** Tells whether an address is of a trusted proxy: what comes from there is of many callers. */
export function isTrustedBy(trusted: readonly string[]): (address: string) => boolean {
  const list = trustedList(trusted);
  /** Proxies are few, and what comes through them is much. */
  const known = new LRUCache<string, boolean>({ max: KNOWN });
  return (address) => {
    const found = known.get(address);
    if (found !== undefined) return found;
    const bare = plain(address);
    const version = isIP(bare);
    const isTrusted = version !== 0 && list.check(bare, version === 6 ? 'ipv6' : 'ipv4');
    if (address.length <= LONGEST) known.set(address, isTrusted);
    return isTrusted;
  };
}

/** Loopback, in either version of the protocol. */
export function isLoopback(address: string): boolean {
  const bare = plain(address);
  const version = isIP(bare);
  if (version === 4) return bare.startsWith('127.');
  return version !== 0 && ipaddr.IPv6.parse(bare).range() === 'loopback';
}

/**
 * What callers are counted by: an IPv4 address (also where it comes as IPv6), else the /64 an IPv6 address lies in,
 * of which anybody has all addresses. What is no address stays as it is.
 */
export function networkOf(address: string): string {
  const bare = plain(address);
  if (isIP(bare) !== 6) return bare;
  const first = ipaddr.IPv6.parse(bare).parts.slice(0, 4);
  return `${first.map((part) => part.toString(16)).join(':')}::/64`;
}

function trustedList(trusted: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of trusted) {
    const [address = '', prefix, ...rest] = entry.split('/');
    const version = isIP(address);
    const bits = version === 6 ? 128 : 32;
    const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
    if (version === 0 || rest.length > 0 || length < 0 || length > bits) {
      throw new RangeError(`${entry} is no address or CIDR block`);
    }
    list.addSubnet(address, length, version === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** Without brackets and port; an IPv4 address on a socket of both versions as itself. */
function plain(address: string): string {
  // Most are, and every request has its own looked at.
  if (isIP(address) === 4) return address;
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(address)?.[1] ?? address;
  const withoutPort = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(bare)?.[1] ?? bare;
  if (isIP(withoutPort) !== 6) return withoutPort;
  const parsed = ipaddr.IPv6.parse(withoutPort);
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : withoutPort;
}
