/** Parses user agents with bowser and detects bots with isbot; caches results, since most user agents repeat. */
import bowser from 'bowser';
import { isbot } from 'isbot';
import { LRUCache } from 'lru-cache';
import { estimateBytes } from '../../application/concurrency/index.js';
import type { Cache, UserAgent, UserAgentParser } from '../../application/ports/index.js';

const AGENTS_BYTES = 2 * 1024 * 1024;
/** For other browsers bowser returns part of the user agent itself, which may contain personal data. */
const BROWSERS = new Set<string>([
  ...Object.values(bowser.BROWSER_MAP),
  'Miui',
  'Opera Touch',
  'PlayStation 4',
  'QQ Browser',
  'QQ Browser Lite',
  'SlimerJS',
]);

export function createUserAgentParser(limitBytes = AGENTS_BYTES): UserAgentParser & { readonly cache: Cache } {
  const agents = new LRUCache<string, UserAgent>({
    maxSize: limitBytes,
    sizeCalculation: (agent, userAgent) => estimateBytes(userAgent) + estimateBytes(agent),
  });
  const bots = new LRUCache<string, boolean>({
    maxSize: limitBytes / 2,
    sizeCalculation: (_, userAgent) => estimateBytes(userAgent),
  });
  return {
    read: withCache(agents, parseUserAgent),
    isBot: withCache(bots, isbot),
    cache: {
      name: 'analytics.agents',
      limitBytes: limitBytes * 1.5,
      bytes: () => agents.calculatedSize + bots.calculatedSize,
    },
  };
}

/** Caches results. A hit is not stored again, since that would compute its size each time. */
function withCache<Found extends {}>(cache: LRUCache<string, Found>, compute: (userAgent: string) => Found) {
  return (userAgent: string): Found => {
    const agents = cache.get(userAgent);
    if (agents !== undefined) return agents;
    const found = compute(userAgent);
    cache.set(userAgent, found);
    return found;
  };
}

function parseUserAgent(userAgent: string): UserAgent {
  // bowser throws on empty input.
  if (userAgent.trim() === '') return {};
  const { browser, os, platform } = bowser.parse(userAgent);
  // A known system without a device type is a desktop: Chrome OS, less common Unixes.
  const device = platform.type ?? (os.name && 'desktop');
  return {
    ...(browser.name && BROWSERS.has(browser.name) && { browser: browser.name }),
    ...(os.name && { os: os.name }),
    ...(device && { device }),
  };
}
