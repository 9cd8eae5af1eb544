/** Counts of the last five minutes and the most recent hits. */
import { signal } from '@preact/signals';
import type { Hit } from '../contract.js';

const WINDOW_MS = 5 * 60_000;
const MAX_RECENT = 6;

/** A hit with a number, by which a list keeps its row. */
export type NumberedHit = Hit & { readonly number: number };

export const isConnected = signal(false);
export const recent = signal<readonly NumberedHit[]>([]);
export const counts = signal({ pageviews: 0, events: 0 });

/** Counts per second, so that memory does not grow with the number of hits. */
const seconds = new Map<number, { pageviews: number; events: number }>();
let clockAheadMs = 0;
let lastNumber = 0;
let isScheduled = false;

/** Counts the window that ends now. */
export function recount(): void {
  isScheduled = false;
  const oldest = (Date.now() + clockAheadMs - WINDOW_MS) / 1000;
  const all = { pageviews: 0, events: 0 };
  for (const [second, { pageviews, events }] of seconds) {
    if (second < oldest) seconds.delete(second);
    else {
      all.pageviews += pageviews;
      all.events += events;
    }
  }
  const { pageviews, events } = counts.value;
  if (all.pageviews !== pageviews || all.events !== events) counts.value = all;
}

function recountSoon(): void {
  if (!isScheduled) requestAnimationFrame(recount);
  isScheduled = true;
}

/** `aheadMs`: how far the service's clock is ahead of the browser's. */
export function connected(aheadMs: number): void {
  clockAheadMs = aheadMs;
  isConnected.value = true;
  recountSoon();
}

export function disconnected(): void {
  isConnected.value = false;
}

export function addHits(hits: readonly Hit[]): void {
  for (const { timestamp, kind } of hits) {
    const second = Math.floor(Date.parse(timestamp) / 1000);
    const ofSecond = seconds.get(second) ?? { pageviews: 0, events: 0 };
    ofSecond[kind === 'event' ? 'events' : 'pageviews']++;
    seconds.set(second, ofSecond);
  }
  const newest = hits.slice(-MAX_RECENT).map((hit) => ({ ...hit, number: ++lastNumber }));
  recent.value = [...newest.reverse(), ...recent.value].slice(0, MAX_RECENT);
  recountSoon();
}

/** Starts again for another site. */
export function clear(): void {
  seconds.clear();
  recent.value = [];
  isConnected.value = false;
  recount();
}
