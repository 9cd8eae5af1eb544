/** The records in a virtual list: rows open in place, j/k or arrows move, and further pages load at the end. */
import { signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { Button, Spinner } from '../../shared/components/button.js';
import { type Virtual, VirtualList } from '../../shared/components/virtual-list.js';
import { entryTime } from '../api/queries.js';
import { RecordDetails } from '../record/record.js';
import { Row } from '../record/row.js';
import { texts } from '../texts.js';
import { localDate } from '../time/range.js';
import { isAtNewest, showHeld } from './live.js';
import { entries, failure, hasMore, isLoadingMore, loadMore, MAX_LIVE_RECORDS, MAX_RECORDS, state } from './results.js';
import { view } from './view.js';

const ROW_PX = 26;
const NARROW_ROW_PX = 56;
const FOOTER = 'footer';
/** Rows from the end at which the next page is loaded. */
const AHEAD = 30;

/** Ids of opened records. */
export const opened = signal<ReadonlySet<string>>(new Set());
/** Id of the record that the keyboard is at. */
export const active = signal<string | undefined>(undefined);

export function toggleOpened(id: string): void {
  const next = new Set(opened.value);
  if (!next.delete(id)) next.add(id);
  opened.value = next;
}

/** What the keyboard does with the list while it is shown. */
export const listControl = { moveTo: (_index: number): void => {} };

export function RecordList() {
  const shown = entries.value;
  const keys = useMemo(() => [...shown.map(({ id }) => id), FOOTER], [shown]);
  const virtual = useRef<Virtual>();
  const holder = useRef<HTMLDivElement>(null);
  const isNarrow = matchMedia('(width <= 45rem)').matches;
  const showDate = useMemo(() => spansDays(shown), [shown]);
  const activeIndex = Math.max(
    0,
    shown.findIndex(({ id }) => id === active.value),
  );

  listControl.moveTo = (index) => {
    const to = Math.max(0, Math.min(shown.length - 1, index));
    const entry = shown[to];
    if (!entry) return;
    active.value = entry.id;
    virtual.current?.scrollToIndex(to, { align: 'auto' });
    focusRow(holder.current, to);
  };

  useEffect(() => {
    const list = holder.current?.querySelector('.virtual-list');
    if (!list) return;
    const onScroll = () => {
      const isAtTop = list.scrollTop < ROW_PX;
      if (isAtTop !== isAtNewest.peek()) isAtNewest.value = isAtTop;
    };
    list.addEventListener('scroll', onScroll, { passive: true });
    onScroll();
    return () => list.removeEventListener('scroll', onScroll);
  }, []);

  return (
    <div class="record-list" ref={holder}>
      <VirtualList
        keys={keys}
        label={texts.results.label}
        estimate={() => (isNarrow ? NARROW_ROW_PX : ROW_PX)}
        onReady={(ready) => {
          virtual.current = ready;
        }}
        onRange={(_, last) => {
          if (last >= keys.length - AHEAD && failure.peek() === undefined) void loadMore();
        }}
        row={(index) => {
          const entry = shown[index];
          if (!entry) return <Footer />;
          const isOpen = opened.value.has(entry.id);
          return (
            <div class={isOpen ? 'record open' : 'record'}>
              <Row
                entry={entry}
                isOpen={isOpen}
                showDate={showDate}
                tabIndex={index === activeIndex ? 0 : -1}
                onClick={() => {
                  toggleOpened(entry.id);
                  requestAnimationFrame(() => showWhole(holder.current, index));
                }}
                onFocus={() => {
                  active.value = entry.id;
                }}
              />
              {isOpen && <RecordDetails entry={entry} />}
            </div>
          );
        }}
      />
    </div>
  );
}

/** Scrolls as far as needed to show a row with its details, which may be below the edge. */
function showWhole(holder: HTMLElement | null, index: number): void {
  holder?.querySelector(`.row[data-index="${index}"]`)?.scrollIntoView({ block: 'nearest' });
}

const FRAMES = 30;

/** The row is rendered some frames after the list has scrolled to it. */
function focusRow(holder: HTMLElement | null, index: number, frames = FRAMES): void {
  const row = holder?.querySelector<HTMLElement>(`.row[data-index="${index}"] .record-row`);
  if (row) row.focus({ preventScroll: true });
  else if (frames > 0) requestAnimationFrame(() => focusRow(holder, index, frames - 1));
}

/** Rows show their date unless all records are of today. */
function spansDays(shown: readonly { readonly timestamp: string }[]): boolean {
  const [first, last] = [shown[0], shown.at(-1)];
  if (!first || !last) return false;
  const today = localDate(Date.now());
  return localDate(entryTime(first)) !== today || localDate(entryTime(last)) !== today;
}

export function scrollToNewest(): void {
  document.querySelector('.record-list .virtual-list')?.scrollTo({ top: 0 });
  showHeld();
}

function Footer() {
  const count = entries.value.length;
  if (failure.value !== undefined && state.value === 'ready')
    return (
      <div class="list-footer" role="alert">
        {messageOf(failure.value)}
        <Button small onClick={() => void loadMore()}>
          {texts.states.retry}
        </Button>
      </div>
    );
  if (isLoadingMore.value)
    return (
      <div class="list-footer quiet" role="status">
        <Spinner /> {texts.results.loadingMore}
      </div>
    );
  const bound = view.value.live ? MAX_LIVE_RECORDS : MAX_RECORDS;
  if (count >= bound) return <div class="list-footer quiet">{texts.results.bound(bound)}</div>;
  if (hasMore.value)
    return (
      <div class="list-footer">
        <Button small onClick={() => void loadMore()}>
          {texts.results.more}
        </Button>
      </div>
    );
  return <div class="list-footer quiet">{texts.results.end(count)}</div>;
}
