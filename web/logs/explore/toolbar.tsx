/** Above the records: how many match, live tail, order, link and download. */
import { signal } from '@preact/signals';
import { ArrowDownWideNarrow, ArrowUp, Download, Link, ListFilter, Pause, Play, Radio, X } from 'lucide-preact';
import { messageOf } from '../../shared/api/http.js';
import { Button, IconButton, Spinner } from '../../shared/components/button.js';
import { Icon } from '../../shared/components/icon.js';
import { Menu } from '../../shared/components/menu.js';
import { toast } from '../../shared/components/toasts.js';
import { copy } from '../record/copy.js';
import { texts } from '../texts.js';
import { downloadRecords, type FileFormat, MAX_DOWNLOAD } from './download.js';
import { matching, ranAt } from './explorer-state.js';
import { dropped, held, isPaused, liveState, missedSome, setPaused } from './live.js';
import { scrollToNewest } from './record-list.js';
import { entries, state } from './results.js';
import { change, shareAddress, toggleColumn, view } from './view.js';

const isDownloading = signal(false);

async function save(format: FileFormat) {
  isDownloading.value = true;
  try {
    await downloadRecords(format);
  } catch (error) {
    toast({ text: messageOf(error), tone: 'bad' });
  } finally {
    isDownloading.value = false;
  }
}

export const toggleLive = (): void => change({ live: !view.peek().live });

export function Toolbar({ openFilters }: { openFilters: () => void }) {
  const { live, order } = view.value;
  return (
    <div class="toolbar">
      <span class="open-filters">
        <Button small icon={ListFilter} onClick={openFilters}>
          {texts.facets.open}
        </Button>
      </span>
      <p class="matching" role="status">
        {state.value === 'loading' && <Spinner />}
        <Matching />
      </p>
      <ShownFields />
      <span class="spacer" />
      {live ? <LiveState /> : null}
      <Button small icon={Radio} aria-pressed={live} onClick={toggleLive}>
        {live ? texts.live.stop : texts.live.start}
      </Button>
      {!live && (
        <Menu
          label={texts.results.order}
          icon={ArrowDownWideNarrow}
          small
          items={() =>
            (['desc', 'asc'] as const).map((each) => ({
              label: each === 'desc' ? texts.results.newestFirst : texts.results.oldestFirst,
              checked: order === each,
              run: () => change({ order: each }),
            }))
          }
        />
      )}
      <IconButton
        small
        icon={Link}
        label={texts.results.copyLink}
        onClick={() => copy(shareAddress(view.value, ranAt.value), texts.results.linkCopied)}
      />
      {isDownloading.value ? (
        <span class="busy">
          <Spinner />
        </span>
      ) : (
        <Menu
          label={`${texts.results.download}. ${texts.results.downloadBound(MAX_DOWNLOAD)}`}
          icon={Download}
          small
          items={() => [
            { label: texts.results.ndjson, run: () => void save('ndjson') },
            { label: texts.results.csv, run: () => void save('csv') },
          ]}
        />
      )}
    </div>
  );
}

/** Fields whose values are in the rows; a click takes one away. */
const ShownFields = () => (
  <>
    {view.value.columns.map((path) => (
      <button
        key={path}
        type="button"
        class="tag shown-field-tag"
        aria-label={texts.results.hideField(path)}
        onClick={() => toggleColumn(path)}
      >
        {path}
        <Icon of={X} />
      </button>
    ))}
  </>
);

function Matching() {
  const loaded = entries.value.length;
  const { value: count } = matching;
  if (count === undefined)
    return <>{state.value === 'loading' ? texts.results.loading : texts.results.loaded(loaded)}</>;
  return (
    <>
      <strong>{texts.results.matching(count)}</strong>
      {loaded < count && <span class="quiet"> · {texts.results.loaded(loaded)}</span>}
    </>
  );
}

function LiveState() {
  const { value: current } = liveState;
  const text = { off: texts.live.connecting, connecting: texts.live.connecting, on: '', lost: texts.live.lost }[
    current
  ];
  return (
    <>
      {text !== '' && (
        <span class="quiet" role="status">
          {text}
        </span>
      )}
      <Button small icon={isPaused.value ? Play : Pause} onClick={() => setPaused(!isPaused.value)}>
        {isPaused.value ? texts.live.resume : texts.live.pause}
      </Button>
    </>
  );
}

/** Arrivals that wait to be shown; announced, and a click shows them. */
export function Arrivals() {
  const count = held.value.length;
  if (!view.value.live) return null;
  return (
    <div class="arrivals" role="status">
      {missedSome.value && <p class="trouble">{texts.live.missed}</p>}
      {count > 0 && (
        <Button
          small
          variant="main"
          onClick={() => {
            setPaused(false);
            scrollToNewest();
          }}
        >
          <Icon of={ArrowUp} />
          {texts.live.arrived(count)}
          {dropped.value > 0 && ` (${texts.live.dropped(dropped.value)})`}
        </Button>
      )}
      {count === 0 && isPaused.value && <span class="tag">{texts.live.paused}</span>}
      <span class="unseen">{liveState.value === 'on' && texts.live.state}</span>
    </div>
  );
}
