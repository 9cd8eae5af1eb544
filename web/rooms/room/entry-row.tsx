/** A row of the conversation: a message, or something that happened. */
import { ShieldAlert } from 'lucide-preact';
import { Icon } from '../../shared/components/icon.js';
import { dayTitle, Time } from '../../shared/components/time.js';
import type { Entry, Fault } from '../conversation.js';
import { texts } from '../texts.js';
import { nameOf, useRoom } from './context.js';
import { MessageBubble } from './message.js';

/** Messages of one sender within this time show name and picture once. */
const GROUP_MS = 300_000;

interface EntryRowProps {
  readonly entry: Entry;
  readonly before: Entry | undefined;
  readonly isFirstUnread: boolean;
  /** Of the messages. */
  readonly isLast: boolean;
}

export function EntryRow({ entry, before, isFirstUnread, isLast }: EntryRowProps) {
  const isNewDay = before && new Date(before.at).toDateString() !== new Date(entry.at).toDateString();
  const isAfterMessage = before?.kind === 'text' || before?.kind === 'file';
  const isContinued =
    !isNewDay &&
    !isFirstUnread &&
    isAfterMessage &&
    before.senderId === entry.senderId &&
    entry.at - before.at < GROUP_MS;
  return (
    <>
      {isNewDay && <p class="timeline-day">{dayTitle(entry.at)}</p>}
      {isFirstUnread && <p class="timeline-unread">{texts.room.unread}</p>}
      {entry.kind === 'text' || entry.kind === 'file' ? (
        <MessageBubble entry={entry} isContinued={isContinued} isLast={isLast} />
      ) : (
        <EventRow entry={entry} />
      )}
    </>
  );
}

/** Not the doing of an attacker. */
const HARMLESS: readonly Fault[] = ['key-missing', 'not-understood'];

type Happening = Exclude<Entry, { kind: 'text' | 'file' }>;

function EventRow({ entry }: { entry: Happening }) {
  const { session } = useRoom();
  const name = nameOf(session, entry.senderId);
  const isOwn = entry.senderId === session.ownId;
  if (entry.kind === 'fault') {
    const isWarning = !HARMLESS.includes(entry.fault);
    return (
      <p class={`timeline-event${isWarning ? ' fault' : ''}`}>
        {isWarning && <Icon of={ShieldAlert} />}
        {texts.fault[entry.fault](isOwn ? undefined : name, entry.count)}
      </p>
    );
  }
  return (
    <p class="timeline-event">
      {eventText(entry, name, isOwn, (id) => nameOf(session, id))} <Time at={entry.at} />
    </p>
  );
}

function eventText(
  entry: Exclude<Happening, { kind: 'fault' }>,
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
