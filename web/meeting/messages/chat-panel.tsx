/** The panel of the chat: what was written, what is not sent yet, and the field to write in. */
import { ArrowDown, MessageSquare } from 'lucide-preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../shared/components/button.js';
import { Empty } from '../../shared/components/states.js';
import { dropProps, isDraggingFiles } from '../files/drop.js';
import { FileLine } from '../files/file-line.js';
import { SidePanel } from '../meeting/side-panel.js';
import { texts } from '../texts.js';
import { Composer } from './composer.js';
import { MessageLine } from './message-line.js';
import { OutboxList } from './outbox-list.js';
import { type Entry, entries } from './timeline.js';

const { chat: words } = texts;

export const ChatPanel = () => (
  <SidePanel title={words.title} closeLabel={words.close}>
    <div class="chat" {...dropProps()}>
      <Log />
      <OutboxList />
      <Composer />
      {isDraggingFiles.value && <span class="drop-here">{texts.stage.dropHere(texts.everyone)}</span>}
    </div>
  </SidePanel>
);

/** Distance in px from the end within which the log follows new entries. */
const AT_END = 40;

function Log() {
  const element = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  /** Height for which `isAtEnd` was decided: a log that has shrunk was not scrolled. */
  const height = useRef(0);
  const [isBehind, setBehind] = useState(false);
  const all = entries.value;

  function toEnd() {
    const log = element.current;
    if (log) log.scrollTop = log.scrollHeight;
  }
  useLayoutEffect(() => {
    if (isAtEnd.current) toEnd();
    else setBehind(true);
  }, [all]);
  // The log shrinks when the outbox below it appears, and grows when an image is loaded.
  useEffect(() => {
    const log = element.current;
    if (!log) return;
    const observer = new ResizeObserver(() => {
      height.current = log.clientHeight;
      if (isAtEnd.current) toEnd();
    });
    observer.observe(log);
    if (log.firstElementChild) observer.observe(log.firstElementChild);
    return () => observer.disconnect();
  }, []);

  return (
    <div class="log-frame">
      <div
        ref={element}
        class="log"
        role="log"
        aria-label={words.log}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: makes it scrollable by keyboard
        tabIndex={0}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          if (clientHeight !== height.current) return;
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < AT_END;
          if (isAtEnd.current) setBehind(false);
        }}
      >
        <ol>
          {all.map((entry, index) => (
            <Line key={entry.key} entry={entry} previous={all[index - 1]} />
          ))}
        </ol>
        {!all.some(({ kind }) => kind !== 'notice') && (
          <Empty icon={MessageSquare} title={words.empty}>
            <span>{words.emptyAbout}</span>
          </Empty>
        )}
      </div>
      {isBehind && (
        <Button small icon={ArrowDown} onClick={toEnd}>
          {words.newest}
        </Button>
      )}
    </div>
  );
}

/** Messages of one sender within this time of each other are a group, which names the sender once. */
const GROUP_MS = 5 * 60_000;

function Line({ entry, previous }: { entry: Entry; previous: Entry | undefined }) {
  if (entry.kind === 'message') {
    const { message, quoted } = entry;
    const isGrouped =
      previous?.kind === 'message' &&
      previous.message.participantId === message.participantId &&
      message.timestamp - previous.message.timestamp < GROUP_MS;
    return <MessageLine message={message} quoted={quoted} isGrouped={isGrouped} />;
  }
  if (entry.kind === 'file') return <FileLine batch={entry.key} />;
  return <li class="notice">{entry.text}</li>;
}
