/** The messages of a channel, conversation or thread: scrolls, loads pages, jumps, and marks as read. */
import { useComputed } from '@preact/signals';
import { ArrowDown } from 'lucide-preact';
import { Component, type ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isTemporary, messageOf } from '../../shared/api/http.js';
import { AnchoredList, type ListControl } from '../../shared/components/anchored-list.js';
import { Button, Spinner } from '../../shared/components/button.js';
import { Failed, Loading } from '../../shared/components/states.js';
import { dayTitle } from '../../shared/components/time.js';
import { toast } from '../../shared/components/toasts.js';
import { ofTimeline } from '../state/outbox.js';
import { type Row, rowsOf } from '../state/rows.js';
import { readUpTo } from '../state/unread.js';
import { texts } from '../texts/workspace.js';
import { useWorkspace } from '../workspace/context.js';
import { settle } from '../workspace/view.js';
import { MessageRow } from './message-row.js';
import { OutgoingRow } from './outgoing-row.js';
import { useReading } from './use-reading.js';

const FLASH_MS = 2500;
const ESTIMATED_PX: { readonly [kind in Row['kind']]: number } = { day: 36, new: 28, message: 52, outgoing: 52 };
const CHARACTERS_PER_LINE = 90;

interface TimelineViewProps {
  /** Of the timeline: channel, conversation, or parent message. */
  readonly timelineKey: string;
  readonly label: string;
  /** Message to show. */
  readonly at: string | undefined;
  /** Shown before the first message of all. */
  readonly intro: ComponentChildren;
  readonly onReady: (control: ListControl) => void;
}

export function TimelineView(props: TimelineViewProps) {
  const { timelineKey: key } = props;
  const { store, timelines } = useWorkspace();
  const timeline = useComputed(() => store.state.value.timelines.get(key)).value;
  const failure = useComputed(() => timelines.failures.value.get(key)).value;
  useEffect(() => {
    if (!timeline) void timelines.loadNewest(key);
  }, [key, !timeline]);
  useEffect(() => () => timelines.leave(key), [key]);
  if (timeline) return <LoadedTimeline {...props} />;
  if (failure) return <Failed error={messageOf(failure)} retry={() => void timelines.loadNewest(key)} />;
  return <Loading />;
}

function LoadedTimeline({ timelineKey: key, label, at, intro, onReady }: TimelineViewProps) {
  const { store, timelines, sending, marks, user, flash } = useWorkspace();
  const timeline = useComputed(() => store.state.value.timelines.get(key)).value;
  const outgoing = useComputed(() => ofTimeline(sending.outbox.value, key)).value;
  const failure = useComputed(() => timelines.failures.value.get(key)).value;
  const control = useRef<ListControl>();
  const [isAtEnd, setAtEnd] = useState(at === undefined);
  const { messages = [], hasOlder = false, hasNewer = false } = timeline ?? {};
  const newAfter = useReading(key, messages, isAtEnd && !hasNewer);

  const rows = useMemo(
    () => rowsOf({ messages, outgoing: hasNewer ? [] : outgoing, userId: user.id, newAfter }),
    [messages, outgoing, hasNewer, newAfter],
  );
  const keys = useMemo(() => rows.map((row) => row.key), [rows]);
  const [start] = useState(() => rows.find(({ kind }) => kind === 'new')?.key);
  const mark = readUpTo(marks.marks.value, key);
  const unreadBelow = useMemo(
    () => messages.filter(({ createdAt, author }) => createdAt > mark && author.id !== user.id).length,
    [messages, mark],
  );

  useEffect(() => {
    if (at !== undefined) void jump(at);
  }, [at]);
  useEffect(() => {
    if (outgoing.length > 0) control.current?.scrollToEnd();
  }, [outgoing.length]);

  async function jump(id: string) {
    const isFound = await timelines.loadAround(key, id).catch((error: unknown) => {
      if (isTemporary(error)) toast({ tone: 'bad', text: messageOf(error) });
      return isTemporary(error) ? undefined : false;
    });
    if (isFound === undefined) return settle(id);
    requestAnimationFrame(() => {
      control.current?.scrollTo(id, 'center');
      settle(id);
      if (!isFound) return toast({ text: texts.messageDeleted });
      flash.value = id;
      requestAnimationFrame(() => focusMessage(id));
      setTimeout(() => {
        if (flash.value === id) flash.value = undefined;
      }, FLASH_MS);
    });
  }

  async function toEnd() {
    if (hasNewer) await timelines.loadNewest(key);
    requestAnimationFrame(() => control.current?.scrollToEnd());
  }
  const latestToEnd = useRef(toEnd);
  latestToEnd.current = toEnd;

  const head = hasOlder ? (
    <div class="page-edge">{failure ? <OlderFailed error={failure} timelineKey={key} /> : <Spinner />}</div>
  ) : (
    <div class="timeline-intro">{intro}</div>
  );

  return (
    <div class="timeline">
      <AnchoredList
        class="messages"
        keys={keys}
        label={label}
        start={start}
        estimate={(index) => estimateOf(rows[index])}
        head={head}
        followsEnd={!hasNewer}
        row={(index) => <RowView row={rows[index]} />}
        onReady={(ready) => {
          control.current = ready;
          onReady({ ...ready, scrollToEnd: () => void latestToEnd.current() });
        }}
        onNearStart={() => hasOlder && failure === undefined && void timelines.loadOlder(key)}
        onNearEnd={() => hasNewer && void timelines.loadNewer(key)}
        onEnd={setAtEnd}
      />
      {(!isAtEnd || hasNewer) && (
        <div class="to-end">
          <Button small icon={ArrowDown} onClick={toEnd}>
            {unreadBelow > 0 && !hasNewer ? texts.newMessages(unreadBelow) : texts.toNewest}
          </Button>
        </div>
      )}
    </div>
  );
}

const focusMessage = (id: string) =>
  document.querySelector<HTMLElement>(`[data-message="${CSS.escape(id)}"]`)?.focus({ preventScroll: true });

function OlderFailed({ error, timelineKey }: { error: unknown; timelineKey: string }) {
  const { timelines } = useWorkspace();
  return (
    <>
      {messageOf(error)}
      <Button small onClick={() => void timelines.loadOlder(timelineKey)}>
        {texts.tryAgain}
      </Button>
    </>
  );
}

interface RowProps {
  readonly row: Row | undefined;
}

/**
 * Renders a row again only if it changes, not with each scroll or message. No cache of elements: an element that is used again
 * keeps the tree in which it was first rendered, and with it everything that has been in view.
 */
class RowView extends Component<RowProps> {
  override shouldComponentUpdate({ row }: RowProps): boolean {
    return !isSame(row, this.props.row);
  }

  override render({ row }: RowProps): ComponentChildren {
    switch (row?.kind) {
      case 'day':
        return (
          <div class="day-line">
            <span>{dayTitle(row.at)}</span>
          </div>
        );
      case 'new':
        return (
          <div class="new-line">
            <span>{texts.newLine}</span>
          </div>
        );
      case 'outgoing':
        return <OutgoingRow outgoing={row.outgoing} isFirst={row.isFirst} />;
      case 'message':
        return <MessageRow message={row.message} isFirst={row.isFirst} />;
      default:
        return null;
    }
  }
}

/** Rows are made anew with each change of the timeline; their messages are not. */
function isSame(a: Row | undefined, b: Row | undefined): boolean {
  if (a?.kind === 'message') return b?.kind === a.kind && a.message === b.message && a.isFirst === b.isFirst;
  if (a?.kind === 'outgoing') return b?.kind === a.kind && a.outgoing === b.outgoing && a.isFirst === b.isFirst;
  return a?.kind === b?.kind && a?.key === b?.key;
}

function estimateOf(row: Row | undefined): number {
  if (row?.kind !== 'message') return ESTIMATED_PX[row?.kind ?? 'message'];
  const { content, images } = row.message;
  const lines = Math.ceil(content.length / CHARACTERS_PER_LINE) + (content.match(/\n/g)?.length ?? 0);
  return (row.isFirst ? 46 : 26) + Math.max(0, lines - 1) * 22 + (images.length > 0 ? 230 : 0);
}
