/** All sites at a glance: totals of the period and a small chart of each. */
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { Loading } from '../../shared/components/states.js';
import type { Report, Site } from '../contract.js';
import { number } from '../formatting.js';
import { PeriodPicker } from '../report/period-picker.js';
import { Change } from '../report/totals.js';
import { selectSite } from '../state/dashboard.js';
import { addressOf, period } from '../state/selection.js';
import { METRIC_NAMES, overviewTexts } from '../texts.js';
import { overviewReport } from './overview-report.js';
import { Sparkline } from './sparkline.js';

/** Number of sites above which they can be searched. */
const MANY = 8;

export function Overview({ sites }: { sites: readonly Site[] }) {
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const found = sites.filter(({ name, domains }) => [name, ...domains].join(' ').toLowerCase().includes(wanted));
  return (
    <main id="overview">
      <header>
        <h1 class="heading">{overviewTexts.title}</h1>
        {sites.length > MANY && (
          <label class="site-search">
            <span class="unseen">{overviewTexts.search}</span>
            <input
              type="search"
              placeholder={overviewTexts.search}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
        )}
        <PeriodPicker />
      </header>
      {found.length === 0 && <p class="quiet">{overviewTexts.noMatch}</p>}
      <ul class="site-cards">
        {found.map((site) => (
          <SiteCard key={site.id} site={site} />
        ))}
      </ul>
    </main>
  );
}

/** Page views by day; without today, which would look like a fall. */
function finishedDays({ series, generatedAt }: Report): readonly number[] {
  const finished = series.filter(({ date }) => date < generatedAt.slice(0, 10));
  return (finished.length > 1 ? finished : series).map(({ pageviews }) => pageviews);
}

function SiteCard({ site }: { site: Site }) {
  const [report, setReport] = useState<Report>();
  const [error, setError] = useState('');
  useEffect(() => {
    const controller = new AbortController();
    const show = (found: Report) => {
      setReport(found);
      setError('');
    };
    overviewReport(site.id, period.value, controller.signal).then(
      (found) => !controller.signal.aborted && show(found),
      (failure) => !controller.signal.aborted && setError(messageOf(failure)),
    );
    return () => controller.abort();
  }, [site.id, period.value]);

  function open(event: MouseEvent) {
    // Other clicks open a tab or window.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    selectSite(site.id);
  }

  return (
    <li class="card site-card">
      <a href={addressOf(site.id, period.value)} onClick={open}>
        <bdi>{site.name}</bdi>
      </a>
      <span class="quiet domain">{site.domains.join(', ')}</span>
      {error && <p class="trouble">{error}</p>}
      {!report && !error && <Loading />}
      {report && (
        <>
          <Sparkline values={finishedDays(report)} />
          <dl>
            {(['pageviews', 'uniques'] as const).map((metric) => (
              <div key={metric}>
                <dt class="quiet">{METRIC_NAMES[metric]}</dt>
                <dd>{number(report.totals[metric] ?? 0)}</dd>
              </div>
            ))}
          </dl>
          <Change of="pageviews" report={report} />
        </>
      )}
    </li>
  );
}
