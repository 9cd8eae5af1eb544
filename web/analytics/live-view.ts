/** The live view: how many came in the last five minutes, and the last of them. */
import { byId, element } from '../shared/dom.js';
import type { Hit } from './contract.js';
import { country, pluralize, time } from './formatting.js';
import { siteOf } from './lists-of.js';
import type { HitListener } from './live.js';

const WINDOW_MS = 5 * 60_000;
const SHOWN = 6;
const EVERY_MS = 5000;

/** By the second, so that a flood takes no more room than a visit. */
interface Second {
  pageviews: number;
  events: number;
}

export interface LiveView extends Omit<HitListener, 'ended'> {
  /** As of another site. */
  clear(): void;
}

export function createLiveView(): LiveView {
  const [now, state, recent] = [byId('live-count'), byId('live-state'), byId('recent')];
  const nothing = byId('recent-none');
  const seconds = new Map<number, Second>();
  let last: readonly Hit[] = [];
  let ahead = 0;
  let isAsked = false;

  function show() {
    isAsked = false;
    const oldest = (Date.now() + ahead - WINDOW_MS) / 1000;
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
    nothing.hidden = last.length > 0;
  }

  function soon() {
    if (!isAsked) requestAnimationFrame(show);
    isAsked = true;
  }

  function tell(what: string, isOpen: boolean) {
    state.textContent = what;
    state.classList.toggle('open', isOpen);
  }

  setInterval(soon, EVERY_MS);

  return {
    connected(difference) {
      ahead = difference;
      tell('Live', true);
      soon();
    },
    disconnected: () => tell('Connecting…', false),
    hits(hits) {
      for (const { timestamp, kind } of hits) {
        const second = Math.floor(Date.parse(timestamp) / 1000);
        const known = seconds.get(second) ?? { pageviews: 0, events: 0 };
        known[kind === 'event' ? 'events' : 'pageviews']++;
        seconds.set(second, known);
      }
      last = [...hits.slice(-SHOWN).reverse(), ...last].slice(0, SHOWN);
      soon();
    },
    clear() {
      seconds.clear();
      last = [];
      tell('Connecting…', false);
      show();
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
