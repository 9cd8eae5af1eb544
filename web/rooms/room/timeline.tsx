/** The messages and events of a room, with unsent messages at the end. */
import { useSignal } from '@preact/signals';
import { ArrowDown, Hourglass, MessageSquareLock, ShieldAlert } from 'lucide-preact';
import { useEffect } from 'preact/hooks';
import { AnchoredList } from '../../shared/components/anchored-list.js';
import { Button } from '../../shared/components/button.js';
import { Banner, Empty, Loading } from '../../shared/components/states.js';
import { type Entry, isMessage } from '../conversation.js';
import type { PendingMessage } from '../outbox.js';
import { texts } from '../texts.js';
import { nameOf, useRoom } from './context.js';
import { EntryRow } from './entry-row.js';
import { useNotifications } from './notifications.js';
import { FailedRotation, PendingBubble, PendingFile } from './pending.js';
import { useUnread } from './unread.js';

const words = texts.room;
const ROW_HEIGHT = 64;

export function Timeline() {
  const { session, list } = useRoom();
  const isAway = useSignal(false);
  const { entries, members } = session.conversation.value;
  const pending = pendingRows(session.outbox.pending.value);
  const firstUnread = useUnread();
  useNotifications();
  const last = entries.at(-1);

  // What one sends oneself is always shown.
  useEffect(() => list.value?.scrollToEnd(), [pending.length > 0, last?.senderId === session.ownId && last.id]);

  if (!session.isLoaded.value)
    return (
      <div class="timeline">
        <Warnings />
        <Loading label={texts.loading} />
      </div>
    );
  const keys = [...entries.map(({ id }) => id), ...pending.map(({ key }) => key)];
  const lastMessage = entries.findLast(isMessage)?.id;
  return (
    <div class="timeline">
      <Warnings />
      {lastMessage === undefined && pending.length === 0 && <EmptyRoom isAlone={members.size < 2} />}
      <AnchoredList
        class="timeline-list"
        label={words.log}
        keys={keys}
        estimate={() => ROW_HEIGHT}
        row={(index) => {
          const entry = entries[index];
          if (!entry) return pending[index - entries.length]?.row;
          const before = entries[index - 1];
          return (
            <EntryRow
              entry={entry}
              before={before}
              isFirstUnread={entry.id === firstUnread}
              isLast={entry.id === lastMessage}
            />
          );
        }}
        onReady={(control) => {
          list.value = control;
        }}
        onEnd={(isAtEnd) => {
          isAway.value = !isAtEnd;
        }}
      />
      {isAway.value && (
        <div class="to-end">
          <Button small icon={ArrowDown} onClick={() => list.value?.scrollToEnd()}>
            {words.newest}
          </Button>
        </div>
      )}
      <Announcement entry={last} />
    </div>
  );
}

/** Parts of one file are one row. */
function pendingRows(pending: readonly PendingMessage[]) {
  const rows = new Map<string, preact.JSX.Element>();
  for (const message of pending) {
    const { id, content } = message;
    if (content.kind === 'text') rows.set(id, <PendingBubble message={message} />);
    if (content.kind === 'rotation' && message.state === 'failed') rows.set(id, <FailedRotation id={id} />);
    if (content.kind === 'part') rows.set(content.fileId, <PendingFile fileId={content.fileId} parts={pending} />);
  }
  return [...rows].map(([key, row]) => ({ key: `pending-${key}`, row }));
}

/** Tells screen readers about the newest message of somebody else. */
function Announcement({ entry }: { entry: Entry | undefined }) {
  const { session } = useRoom();
  const isOther = entry && entry.senderId !== session.ownId;
  const said = entry?.kind === 'text' ? entry.text : entry?.kind === 'file' ? entry.file.head.name : undefined;
  return (
    <p class="unseen" role="status">
      {isOther && said !== undefined && `${nameOf(session, entry.senderId)}: ${said.slice(0, 300)}`}
    </p>
  );
}

function EmptyRoom({ isAlone }: { isAlone: boolean }) {
  const { session, dialog } = useRoom();
  if (session.isExcluded.value) return null;
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

function Warnings() {
  const { session } = useRoom();
  const pause = session.outbox.pause.value;
  const { participants, verificationOf } = session.roster;
  const changed = participants.value.filter(({ id }) => id !== session.ownId && verificationOf(id) === 'changed');
  return (
    <>
      {changed.length > 0 && (
        <Banner icon={ShieldAlert}>{words.keysChanged(changed.map(({ id }) => nameOf(session, id)).join(', '))}</Banner>
      )}
      {session.roster.isOwnKeyExchanged.value && <Banner icon={ShieldAlert}>{words.ownKeyExchanged}</Banner>}
      {session.connection.value === 'lost' || pause === 'connection' ? (
        <Banner>{words.offline}</Banner>
      ) : (
        pause === 'limit' && <Banner icon={Hourglass}>{words.waiting}</Banner>
      )}
    </>
  );
}
