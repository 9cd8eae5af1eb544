/** Reads user agents with bowser, and knows bots by isbot; what was read is remembered, since most come many times. */
import bowser from 'bowser';
import { isbot } from 'isbot';
import { LRUCache } from 'lru-cache';
import type { Agent, Agents } from '../../application/agents.js';
import { heldBytes } from '../../application/held-bytes.js';
import type { Cache } from '../../application/ports.js';

const AGENTS_BYTES = 2 * 1024 * 1024;
/** A name that a parser makes of what strangers send is no longer. */
const NAME = 60;

export function createAgents(limitBytes = AGENTS_BYTES): Agents & { readonly cache: Cache } {
  const known = new LRUCache<string, Agent>({
    maxSize: limitBytes,
    sizeCalculation: (agent, userAgent) => heldBytes(userAgent) + heldBytes(agent),
  });
  const bots = new LRUCache<string, boolean>({
    maxSize: limitBytes / 2,
    sizeCalculation: (_, userAgent) => heldBytes(userAgent),
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

function parsed(userAgent: string): Agent {
  // It throws at what is empty.
  if (userAgent.trim() === '') return {};
  const { browser, os, platform } = bowser.parse(userAgent);
  // A system that it knows, but no kind of device of, is one for desks: Chrome OS, the lesser Unixes.
  const device = platform.type ?? (os.name && 'desktop');
  return {
    ...(browser.name && { browser: browser.name.slice(0, NAME) }),
    ...(os.name && { os: os.name.slice(0, NAME) }),
    ...(device && { device: device.slice(0, NAME) }),
  };
}
