/** Reads user agents with bowser, and knows bots by isbot; what was read is remembered, since most come many times. */
import bowser from 'bowser';
import { isbot } from 'isbot';
import { LRUCache } from 'lru-cache';
import { estimateBytes } from '../../application/memory/estimate-size.js';
import type { Cache, UserAgent, UserAgentParser } from '../../application/ports/index.js';

const AGENTS_BYTES = 2 * 1024 * 1024;
/** Of what it does not know it makes a name of the user agent itself, in which anything may stand, also about somebody. */
const BROWSERS = new Set<string>([
  ...Object.values(bowser.BROWSER_MAP),
  'Miui',
  'Opera Touch',
  'PlayStation 4',
  'QQ Browser',
  'QQ Browser Lite',
  'SlimerJS',
]);

export function createAgents(limitBytes = AGENTS_BYTES): UserAgentParser & { readonly cache: Cache } {
  const known = new LRUCache<string, UserAgent>({
    maxSize: limitBytes,
    sizeCalculation: (agent, userAgent) => estimateBytes(userAgent) + estimateBytes(agent),
  });
  const bots = new LRUCache<string, boolean>({
    maxSize: limitBytes / 2,
    sizeCalculation: (_, userAgent) => estimateBytes(userAgent),
  });
  return {
    read: remembered(known, parsed),
    isBot: remembered(bots, isbot),
    cache: {
      name: 'analytics.agents',
      limitBytes: limitBytes * 1.5,
      bytes: () => known.calculatedSize + bots.calculatedSize,
    },
  };
}

/** What is known is not stored again: its size would be worked out with every hit. */
function remembered<Found extends {}>(cache: LRUCache<string, Found>, find: (userAgent: string) => Found) {
  return (userAgent: string): Found => {
    const known = cache.get(userAgent);
    if (known !== undefined) return known;
    const found = find(userAgent);
    cache.set(userAgent, found);
    return found;
  };
}

function parsed(userAgent: string): UserAgent {
  // It throws at what is empty.
  if (userAgent.trim() === '') return {};
  const { browser, os, platform } = bowser.parse(userAgent);
  // A system that it knows, but no kind of device of, is one for desks: Chrome OS, the lesser Unixes.
  const device = platform.type ?? (os.name && 'desktop');
  return {
    ...(browser.name && BROWSERS.has(browser.name) && { browser: browser.name }),
    ...(os.name && { os: os.name }),
    ...(device && { device }),
  };
}
