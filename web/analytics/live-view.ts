/** Live view: counts of the last five minutes and the most recent hits. */
import { byId, element } from '../shared/dom.js';
import type { Hit } from './contract.js';
import { country, pluralize, time } from './formatting.js';
import { siteOf } from './lists-of.js';
import type { HitListener } from './live.js';

const WINDOW_MS = 5 * 60_000;
const MAX_RECENT = 6;
const REFRESH_MS = 5000;

/** Counts per second, so that memory does not grow with the number of hits. */
interface Second {
  pageviews: number;
  events: number;
}

export interface LiveView extends Omit<HitListener, 'ended'> {
  /** Resets the view for another site. */
  clear(): void;
}

export function createLiveView(): LiveView {
  const [now, state, recent] = [byId('live-count'), byId('live-state'), byId('recent')];
  const emptyNote = byId('recent-none');
  const seconds = new Map<number, Second>();
  let last: readonly Hit[] = [];
  let clockAheadMs = 0;
  let isScheduled = false;

  function render() {
    isScheduled = false;
    const oldest = (Date.now() + clockAheadMs - WINDOW_MS) / 1000;
    const all: Second = { pageviews: 0, events: 0 };
    for (const [second, { pageviews, events }] of seconds) {
      if (second < oldest) seconds.delete(second);
      else {
        all.pageviews += pageviews;
        all.events += events;
      }
    }
    const { pageviews, events } = all;
    now.textContent = `${pluralize(pageviews, 'page view')}${events > 0 ? ` and ${pluralize(events, 'event')}` : ''} in the last 5 minutes`;
    recent.replaceChildren(...last.map(row));
    emptyNote.hidden = last.length > 0;
  }

  function scheduleRender() {
    if (!isScheduled) requestAnimationFrame(render);
    isScheduled = true;
  }

  function showState(text: string, isOpen: boolean) {
    state.textContent = text;
    state.classList.toggle('open', isOpen);
  }

  setInterval(scheduleRender, REFRESH_MS);

  return {
    connected(aheadMs) {
      clockAheadMs = aheadMs;
      showState('Live', true);
      scheduleRender();
    },
    disconnected: () => showState('Connecting…', false),
    hits(hits) {
      for (const { timestamp, kind } of hits) {
        const second = Math.floor(Date.parse(timestamp) / 1000);
        const counts = seconds.get(second) ?? { pageviews: 0, events: 0 };
        counts[kind === 'event' ? 'events' : 'pageviews']++;
        seconds.set(second, counts);
      }
      last = [...hits.slice(-MAX_RECENT).reverse(), ...last].slice(0, MAX_RECENT);
      scheduleRender();
    },
    clear() {
      seconds.clear();
      last = [];
      showState('Connecting…', false);
      render();
    },
  };
}

function row({ timestamp, path, event, referrer, browser, country: code }: Hit): HTMLElement {
  const from = [referrer && `from ${siteOf(referrer)}`, browser, code && country(code)].filter(Boolean).join(' · ');
  return element(
    'li',
    {},
    element('time', { className: 'quiet', dateTime: timestamp }, time(timestamp)),
    element('bdi', { className: 'what' }, event === undefined ? path : `${event} on ${path}`),
    element('bdi', { className: 'quiet' }, from),
  );
}
