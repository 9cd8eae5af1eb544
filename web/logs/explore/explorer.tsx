/** The explorer: query and time above, chart, filters beside the records. */
import { ChevronDown, CircleAlert, RefreshCw, ScrollText, SearchX } from 'lucide-preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { Button, IconButton } from '../../shared/components/button.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Icon } from '../../shared/components/icon.js';
import { Menu } from '../../shared/components/menu.js';
import { Banner, Empty, Failed, Loading } from '../../shared/components/states.js';
import { withFieldWords } from '../query/edit.js';
import { QueryBar } from '../query/query-bar.js';
import { Around } from '../record/around.js';
import { texts } from '../texts.js';
import { RangePicker } from '../time/range-picker.js';
import { showFacets, total } from './counts.js';
import { runText } from './draft.js';
import { problem, run, startExplorer } from './explorer-state.js';
import { Facets } from './facets.js';
import { Histogram } from './histogram.js';
import { listenToKeys } from './keyboard.js';
import { liveState } from './live.js';
import { RecordList } from './record-list.js';
import { entries, failure, state } from './results.js';
import { Arrivals, Toolbar } from './toolbar.js';
import { change, REFRESH_SECONDS, view } from './view.js';

export function Explorer() {
  const [areFiltersOpen, openFilters] = useState(false);
  const isWide = useMedia('(width > 60rem)');
  // Before the first query.
  useLayoutEffect(() => showFacets(isWide || areFiltersOpen), [isWide, areFiltersOpen]);
  useEffect(() => startExplorer(), []);
  useEffect(() => listenToKeys(), []);
  return (
    <main class="explorer">
      <div class="query-row">
        <QueryBar />
        <RangePicker />
        <Refresh />
      </div>
      <Histogram />
      <div class="columns">
        {isWide && (
          <div class="facets-column">
            <Facets />
          </div>
        )}
        <section
          class="results"
          id="records"
          aria-label={texts.results.label}
          aria-busy={state.value === 'loading'}
          tabIndex={-1}
        >
          <Toolbar openFilters={() => openFilters(true)} />
          <Arrivals />
          <Results />
        </section>
      </div>
      {areFiltersOpen && !isWide && (
        <Dialog title={texts.facets.label} onClose={() => openFilters(false)}>
          <Facets />
        </Dialog>
      )}
      <Around />
    </main>
  );
}

function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const update = () => setMatches(list.matches);
    list.addEventListener('change', update);
    update();
    return () => list.removeEventListener('change', update);
  }, [query]);
  return matches;
}

function Refresh() {
  const { refreshSeconds, live } = view.value;
  const name = (seconds: number) =>
    seconds === 0 ? texts.time.refreshOff : texts.time.every(seconds < 60 ? `${seconds} s` : `${seconds / 60} min`);
  return (
    <span class="refresh">
      <IconButton icon={RefreshCw} label={texts.time.refresh} onClick={() => void run()} />
      {!live && (
        <Menu
          label={`${texts.time.refreshLabel}: ${name(refreshSeconds)}`}
          items={() =>
            REFRESH_SECONDS.map((seconds) => ({
              label: name(seconds),
              checked: seconds === refreshSeconds,
              run: () => change({ refreshSeconds: seconds }, { replace: true }),
            }))
          }
        >
          {refreshSeconds > 0 && name(refreshSeconds)}
          <Icon of={ChevronDown} />
        </Menu>
      )}
    </span>
  );
}

function Results() {
  const { value: current } = state;
  const count = entries.value.length;
  if (problem.value !== undefined && count === 0) return <div class="state" />;
  if (current === 'failed' && count === 0) return <Failed error={messageOf(failure.value)} retry={() => void run()} />;
  if (count > 0)
    return (
      <>
        {current === 'failed' && <NotRefreshed />}
        <RecordList />
      </>
    );
  if (current === 'loading') return <Loading label={texts.results.loading} />;
  if (liveState.value === 'on') return <Loading label={texts.live.waiting} />;
  return <Nothing />;
}

/** Above the records that were found before a failed refresh. */
function NotRefreshed() {
  return (
    <Banner icon={CircleAlert}>
      <span>{texts.results.notRefreshed(messageOf(failure.value))}</span>
      <Button small onClick={() => void run()}>
        {texts.states.retry}
      </Button>
    </Banner>
  );
}

function Nothing() {
  const { text, range } = view.value;
  const isEverything = text === '' && range.kind === 'all';
  if (isEverything && total.value === 0) return <FirstRecord />;
  const asFields = withFieldWords(text);
  return (
    <Empty icon={SearchX} title={texts.results.noneTitle}>
      <span>{asFields === undefined ? texts.results.noneHint : texts.results.fieldHint}</span>
      <div class="dialog-actions">
        {asFields !== undefined && (
          <Button variant="main" onClick={() => runText(asFields)}>
            {texts.results.searchFor(asFields)}
          </Button>
        )}
        {range.kind !== 'all' && (
          <Button onClick={() => change({ range: { kind: 'all' } })}>{texts.results.widen}</Button>
        )}
        {text !== '' && <Button onClick={() => runText('')}>{texts.results.clear}</Button>}
      </div>
    </Empty>
  );
}

function FirstRecord() {
  const address = new URL('api/ingest', document.baseURI).href;
  return (
    <Empty icon={ScrollText} title={texts.results.emptyTitle}>
      <span>{texts.results.emptyHint}</span>
      <pre class="example">
        {`curl ${address} -H 'Content-Type: application/json' \\\n  -d '{"level":"info","event":"hello","message":"First record"}'`}
      </pre>
    </Empty>
  );
}
