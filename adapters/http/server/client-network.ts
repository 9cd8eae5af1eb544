/** Addresses of clients, the networks they are counted by, and rate limits of networks and callers. */
import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import {
  createRateLimiters,
  createSlidingWindow,
  createTokenBucket,
  type RateLimiter,
} from '../../../application/concurrency/index.js';
import type { Clock, Quota } from '../../../application/ports/index.js';

export type ClientAddress = (socketAddress: string, forwardedFor: string | undefined) => string;

/** `trusted` are addresses and CIDR blocks. `onUntrustedProxy` is called once if a local proxy is not one of them. */
export function createClientAddress(trusted: readonly string[], onUntrustedProxy = () => {}): ClientAddress {
  const isTrusted = createProxyCheck(trusted);
  let warned = false;
  return (socketAddress, forwardedFor) => {
    let address = bareAddress(socketAddress);
    if (!warned && forwardedFor !== undefined && !isTrusted(address) && isLoopback(address)) {
      warned = true;
      onUntrustedProxy();
    }
    if (forwardedFor === undefined || trusted.length === 0) return address;
    // Right to left: each entry was added by the hop after it, and is trusted as long as that hop is.
    for (const entry of forwardedFor.split(',').reverse()) {
      if (!isTrusted(address)) break;
      const forwarded = bareAddress(entry.trim());
      if (isIP(forwarded) === 0) break;
      address = forwarded;
    }
    return address;
  };
}

const CACHE_SIZE = 500;
/** Maximum length of an address with a port. */
const MAX_LENGTH = 60;

/** Returns a check whether an address is a trusted proxy, which forwards for many clients. */
export function createProxyCheck(trusted: readonly string[]): (address: string) => boolean {
  const list = trustedList(trusted);
  /** Cached: proxies are few and handle many requests. */
  const cache = new LRUCache<string, boolean>({ max: CACHE_SIZE });
  return (address) => {
    const cached = cache.get(address);
    if (cached !== undefined) return cached;
    const bare = bareAddress(address);
    const version = isIP(bare);
    const isTrusted = version !== 0 && list.check(bare, version === 6 ? 'ipv6' : 'ipv4');
    if (address.length <= MAX_LENGTH) cache.set(address, isTrusted);
    return isTrusted;
  };
}

export function isLoopback(address: string): boolean {
  const bare = bareAddress(address);
  const version = isIP(bare);
  if (version === 4) return bare.startsWith('127.');
  return version !== 0 && ipaddr.IPv6.parse(bare).range() === 'loopback';
}

/** The network to count a client under: an IPv4 address, the /64 of an IPv6 address, other text unchanged. */
export function networkOf(address: string): string {
  const bare = bareAddress(address);
  if (isIP(bare) !== 6) return bare;
  const first = ipaddr.IPv6.parse(bare).parts.slice(0, 4);
  return `${first.map((part) => part.toString(16)).join(':')}::/64`;
}

/** Returns a function like `networkOf`; undefined for a proxy, whose connections carry many clients. */
export const directNetworkOf =
  (isProxy: (address: string) => boolean) =>
  (address: string): string | undefined =>
    isProxy(address) ? undefined : networkOf(address);

function trustedList(trusted: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of trusted) {
    const [address = '', prefix, ...rest] = entry.split('/');
    const version = isIP(address);
    const bits = version === 6 ? 128 : 32;
    const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
    if (version === 0 || rest.length > 0 || length < 0 || length > bits) {
      throw new RangeError(`${entry} is not an address or CIDR block`);
    }
    list.addSubnet(address, length, version === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** Strips brackets and port, and unmaps IPv4 addresses. */
function bareAddress(address: string): string {
  // Fast path: most are IPv4, and this runs for every request.
  if (isIP(address) === 4) return address;
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(address)?.[1] ?? address;
  const withoutPort = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(bare)?.[1] ?? bare;
  if (isIP(withoutPort) !== 6) return withoutPort;
  const parsed = ipaddr.IPv6.parse(withoutPort);
  return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address().toString() : withoutPort;
}

/** A rate limit by network of an address, or by any other text that identifies callers. */
export interface RateLimit {
  /** Returns the milliseconds until the next action is allowed, without counting one. */
  wait(address: string): number;
  /** Counts one action; resolves with the milliseconds to wait if it exceeds the limit. */
  spend(address: string): Promise<number | undefined>;
  /** Takes back a counted action that had no effect. */
  refund(address: string): Promise<void>;
}

const unlimited: RateLimit = {
  wait: () => 0,
  spend: async () => undefined,
  refund: async () => undefined,
};

/** Rate limit of a route, by network or by caller. Requests beyond it are answered 429. */
export type RouteQuota = ({ readonly perNetwork: RateLimit } | { readonly perCaller: RateLimit }) & {
  /** Name of the rejection, `<service>/<reason>`. */
  readonly rejected: string;
  readonly description: string;
};

/** Creates the quota that commands of a caller, identified by any text, count towards. */
export function quotaOf(quota: RouteQuota, address: string, caller = ''): Quota {
  const { rejected, description: detail } = quota;
  const [limit, key] = 'perCaller' in quota ? [quota.perCaller, caller] : [quota.perNetwork, address];
  return {
    async spend() {
      const retryAfterMs = await limit.spend(key);
      return retryAfterMs === undefined ? undefined : { rejected, kind: 'limit', detail, retryAfterMs };
    },
    refund: () => limit.refund(key),
  };
}

/** Creates one limiter per network. Rejected actions do not count. */
function limitNetworks(create: () => RateLimiter): RateLimit {
  const limiterOf = createRateLimiters(create);
  const wait = (address: string) => limiterOf(networkOf(address)).wait();
  return {
    wait,
    async spend(address) {
      const waitMs = wait(address);
      if (waitMs > 0) return waitMs;
      limiterOf(networkOf(address)).consume();
      return undefined;
    },
    async refund(address) {
      limiterOf(networkOf(address)).consume(-1);
    },
  };
}

/** Allows `limit` actions within any `perMs`; 0 means no limit. The clock is monotonic. */
export const createRateLimit = (limit: number, perMs: number, clock?: Clock): RateLimit =>
  limit === 0 ? unlimited : limitNetworks(() => createSlidingWindow(limit, perMs, clock));

/** Allows `perMinute` on average, and half of that in one burst; 0 means no limit. The clock is monotonic. */
export function createBurstLimit(perMinute: number, clock?: Clock): RateLimit {
  if (perMinute === 0) return unlimited;
  const options = { burst: Math.ceil(perMinute / 2), perSecond: perMinute / 60 };
  return limitNetworks(() => createTokenBucket(options, clock));
}
