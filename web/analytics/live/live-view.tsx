/** What happens now: the number of hits in the last five minutes, and the latest ones. */
import { useEffect } from 'preact/hooks';
import { clockTimeWithSeconds } from '../../shared/components/time.js';
import { country, siteOf } from '../formatting.js';
import { liveTexts } from '../texts.js';
import { counts, isConnected, type NumberedHit, recent, recount } from './live-state.js';

const RECOUNT_MS = 5000;

export function LiveView() {
  useEffect(() => {
    const timer = setInterval(recount, RECOUNT_MS);
    return () => clearInterval(timer);
  }, []);
  const { pageviews, events } = counts.value;
  return (
    <section id="live" class="card" aria-labelledby="live-title">
      <header>
        <h2 id="live-title">{liveTexts.title}</h2>
        <p id="live-state" class={isConnected.value ? 'open' : ''}>
          {isConnected.value ? liveTexts.live : liveTexts.connecting}
        </p>
      </header>
      <p id="live-count">{liveTexts.counts(pageviews, events)}</p>
      {recent.value.length === 0 && <p class="quiet">{liveTexts.none}</p>}
      <ol id="recent">
        {recent.value.map((hit) => (
          <RecentHit key={hit.number} hit={hit} />
        ))}
      </ol>
    </section>
  );
}

function RecentHit({ hit: { timestamp, path, event, referrer, browser, country: code } }: { hit: NumberedHit }) {
  const details = [referrer && liveTexts.from(siteOf(referrer)), browser, code && country(code)];
  return (
    <li>
      <time class="quiet" dateTime={timestamp}>
        {clockTimeWithSeconds(Date.parse(timestamp))}
      </time>
      <bdi class="what">{event === undefined ? path : liveTexts.eventOn(event, path)}</bdi>
      <bdi class="quiet">{details.filter(Boolean).join(' · ')}</bdi>
    </li>
  );
}
