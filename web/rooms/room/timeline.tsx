/** The messages and events of a room, with unsent messages at the end. */
import { useComputed, useSignal } from '@preact/signals';
import { ArrowDown, Hourglass, MessageSquareLock, ShieldAlert } from 'lucide-preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Button } from '../../shared/components/button.js';
import { Icon } from '../../shared/components/icon.js';
import { Banner, Empty, Loading } from '../../shared/components/states.js';
import { dayTitle, Time } from '../../shared/components/time.js';
import type { Entry } from '../conversation.js';
import type { PendingMessage } from '../outbox.js';
import { texts } from '../texts.js';
import { nameOf, useRoom } from './context.js';
import { MessageBubble, PendingBubble, PendingFile } from './message.js';

const words = texts.room;
/** Messages of one sender within this time show name and picture once. */
const GROUP_MS = 300_000;
/** Distance from the end in px within which new messages scroll into view. */
const NEAR_END = 80;

export function Timeline() {
  const { session } = useRoom();
  const scroller = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const isAway = useSignal(false);
  const { entries, members } = session.conversation.value;
  const pending = session.outbox.pending.value.filter(({ content }) => ['text', 'part'].includes(content.kind));
  useUnreadTitle();

  const toEnd = () => scroller.current?.scrollTo({ top: scroller.current.scrollHeight });
  useLayoutEffect(() => {
    if (isAtEnd.current || entries.at(-1)?.senderId === session.ownId) toEnd();
  }, [entries.length, pending.length]);
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    // Images and the keyboard of a phone change the height.
    const observer = new ResizeObserver(() => isAtEnd.current && toEnd());
    observer.observe(element);
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    return () => observer.disconnect();
  }, [session.isLoaded.value]);

  if (!session.isLoaded.value)
    return (
      <div class="timeline">
        <ConnectionBanner />
        <Loading label={texts.loading} />
      </div>
    );
  const hasMessages = entries.some(({ kind }) => kind === 'text' || kind === 'file');
  return (
    <div class="timeline">
      <ConnectionBanner />
      <div
        ref={scroller}
        class="timeline-scroll"
        role="log"
        aria-label={words.log}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
        tabIndex={0}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END;
          isAway.value = !isAtEnd.current;
        }}
      >
        <div class="timeline-list">
          {entries.map((entry, index) => (
            <EntryRow key={entry.id} entry={entry} before={entries[index - 1]} />
          ))}
          <PendingRows pending={pending} />
          {!hasMessages && pending.length === 0 && <EmptyRoom isAlone={members.size < 2} />}
        </div>
      </div>
      {isAway.value && (
        <div class="to-end">
          <Button small icon={ArrowDown} onClick={toEnd}>
            {words.newest}
          </Button>
        </div>
      )}
    </div>
  );
}

function EntryRow({ entry, before }: { entry: Entry; before: Entry | undefined }) {
  const isNewDay = before && new Date(before.at).toDateString() !== new Date(entry.at).toDateString();
  const isMessage = (each: Entry | undefined) => each?.kind === 'text' || each?.kind === 'file';
  const isContinued =
    !isNewDay && isMessage(before) && before?.senderId === entry.senderId && entry.at - before.at < GROUP_MS;
  return (
    <>
      {isNewDay && <p class="timeline-day">{dayTitle(entry.at)}</p>}
      {entry.kind === 'text' || entry.kind === 'file' ? (
        <MessageBubble entry={entry} isContinued={isContinued} />
      ) : (
        <EventRow entry={entry} />
      )}
    </>
  );
}

function EventRow({ entry }: { entry: Exclude<Entry, { kind: 'text' | 'file' }> }) {
  const { session } = useRoom();
  const name = nameOf(session, entry.senderId);
  if (entry.kind === 'fault') {
    const isWarning = entry.fault !== 'key-missing' && entry.fault !== 'not-understood';
    return (
      <p class={`timeline-event${isWarning ? ' fault' : ''}`}>
        {isWarning && <Icon of={ShieldAlert} />}
        {texts.fault[entry.fault](entry.senderId === session.ownId ? undefined : name, entry.count)}
      </p>
    );
  }
  return (
    <p class="timeline-event">
      {eventText(entry, name, entry.senderId === session.ownId, (id) => nameOf(session, id))} <Time at={entry.at} />
    </p>
  );
}

function eventText(
  entry: Exclude<Entry, { kind: 'text' | 'file' | 'fault' }>,
  name: string,
  isOwn: boolean,
  nameBy: (id: string) => string,
): string {
  switch (entry.kind) {
    case 'joined':
      return isOwn ? texts.event.youJoined : texts.event.joined(name);
    case 'left':
      return texts.event.left(name);
    case 'renamed':
      return texts.event.renamed(entry.from, entry.to);
    case 'titled':
      return texts.event.titled(name, entry.title);
    case 'rotated':
      return entry.excluded.length > 0
        ? texts.event.excluded(name, entry.excluded.map(nameBy).join(', '))
        : texts.event.rotated(name);
  }
}

/** Parts of one file are one row. */
function PendingRows({ pending }: { pending: readonly PendingMessage[] }) {
  const shown = new Set<string>();
  return (
    <>
      {pending.map((message) => {
        const { content } = message;
        if (content.kind !== 'part') return <PendingBubble key={message.id} message={message} />;
        if (shown.has(content.fileId)) return null;
        shown.add(content.fileId);
        return <PendingFile key={content.fileId} fileId={content.fileId} parts={pending} />;
      })}
    </>
  );
}

function EmptyRoom({ isAlone }: { isAlone: boolean }) {
  const { dialog } = useRoom();
  return (
    <Empty icon={MessageSquareLock} title={isAlone ? words.emptyTitle : words.emptyWithPeople}>
      {isAlone && (
        <>
          <span>{words.empty}</span>
          <Button
            onClick={() => {
              dialog.value = 'invite';
            }}
          >
            {texts.people.invite}
          </Button>
        </>
      )}
    </Empty>
  );
}

function ConnectionBanner() {
  const { session } = useRoom();
  const pause = session.outbox.pause.value;
  if (session.connection.value === 'lost' || pause === 'connection') return <Banner>{words.offline}</Banner>;
  return pause === 'limit' ? <Banner icon={Hourglass}>{words.waiting}</Banner> : null;
}

/** Shows in the title of the tab how many messages came while it was hidden. */
function useUnreadTitle() {
  const { session } = useRoom();
  const seen = useSignal(0);
  const count = useComputed(
    () => session.conversation.value.entries.filter(({ kind }) => kind === 'text' || kind === 'file').length,
  );
  const shownTitle = session.conversation.value.title || words.untitled;
  useEffect(() => {
    const see = () => {
      if (document.visibilityState === 'visible') seen.value = count.value;
      const unread = count.value - seen.value;
      document.title = unread > 0 ? `(${unread}) ${shownTitle}` : shownTitle;
    };
    see();
    document.addEventListener('visibilitychange', see);
    return () => document.removeEventListener('visibilitychange', see);
  }, [count.value, shownTitle]);
}
