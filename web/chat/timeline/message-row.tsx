/** A message in a timeline: author, time, content, files, reactions, thread. */

import { useComputed } from '@preact/signals';
import { Pin } from 'lucide-preact';
import { Avatar } from '../../shared/components/avatar.js';
import { Icon } from '../../shared/components/icon.js';
import { clockTime, fullTime, relativeTime, Time } from '../../shared/components/time.js';
import { MessageEditor } from '../composer/message-editor.js';
import type { Message } from '../contract.js';
import { MessageFiles } from '../files/message-files.js';
import { nameOf } from '../state/chat-state.js';
import { isMentioned, readUpTo } from '../state/unread.js';
import { texts } from '../texts/workspace.js';
import { useWorkspace } from '../workspace/context.js';
import { showPanel } from '../workspace/view.js';
import { MessageText } from './message-text.js';
import { MessageToolbar } from './message-toolbar.js';
import { Quote } from './quote.js';
import { Reactions } from './reactions.js';

interface MessageRowProps {
  readonly message: Message;
  readonly isFirst: boolean;
  /** Above its own thread. */
  readonly isParent?: boolean;
}

export function MessageRow({ message, isFirst, isParent = false }: MessageRowProps) {
  const { store, active, editing, flash, user } = useWorkspace();
  const { id, author, createdAt, updatedAt, channelId, threadId, quotedMessageId, pinnedAt } = message;
  const isActive = useComputed(() => active.value === id).value;
  const isEditing = useComputed(() => editing.value?.id === id).value;
  const isFlashed = useComputed(() => flash.value === id).value;
  const name = nameOf(store.users.value, author);
  const isForUser = author.id !== user.id && isMentioned(message, user.id);

  function activate() {
    // A menu of another message is open: its button stays.
    if (active.value !== id && !document.querySelector('.menu:popover-open')) active.value = id;
  }

  const classes = [
    'message',
    isFirst && 'first',
    isForUser && 'for-user',
    pinnedAt !== null && 'pinned',
    isFlashed && 'flash',
  ];
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the focus does the same
    <article
      class={classes.filter(Boolean).join(' ')}
      data-message={id}
      tabIndex={-1}
      aria-label={texts.messageBy(name, fullTime(createdAt))}
      onPointerEnter={activate}
      onFocusCapture={activate}
      onClick={activate}
    >
      {isFirst ? <Avatar id={author.id} name={name} /> : <span class="side-time">{clockTime(createdAt)}</span>}
      <div class="body">
        {pinnedAt !== null && (
          <span class="pin-note">
            <Icon of={Pin} />
            {texts.pinned}
          </span>
        )}
        {isFirst && (
          <header>
            <strong>{name}</strong>
            {author.isBot && <span class="tag">{texts.bot}</span>}
            <Time at={createdAt} />
          </header>
        )}
        {quotedMessageId !== null && <Quote id={quotedMessageId} placeId={channelId} threadId={threadId} />}
        {isEditing ? (
          <MessageEditor message={message} />
        ) : (
          <MessageText message={message}>
            {updatedAt !== null && (
              <span class="edited" title={fullTime(updatedAt)}>
                {' '}
                {texts.edited}
              </span>
            )}
          </MessageText>
        )}
        <MessageFiles placeId={channelId} images={message.images} attachments={message.attachments} />
        <Reactions message={message} />
        {threadId === undefined && !isParent && <ThreadSummary message={message} />}
      </div>
      {isActive && !isEditing && <MessageToolbar message={message} isParent={isParent} />}
    </article>
  );
}

const MAX_FACES = 4;

function ThreadSummary({ message: { id, threadMeta } }: { message: Message }) {
  const { store, marks, user } = useWorkspace();
  if (!threadMeta) return null;
  const { replyCount, lastReplyAt, lastReplyBy, participants } = threadMeta;
  const isNew =
    lastReplyBy.id !== user.id && participants.includes(user.id) && lastReplyAt > readUpTo(marks.marks.value, id);
  const users = store.users.value;
  return (
    <button type="button" class="thread-summary" onClick={() => showPanel({ kind: 'thread', parentId: id })}>
      <span class="faces">
        {participants.slice(0, MAX_FACES).map((userId) => (
          <Avatar key={userId} small id={userId} name={users.get(userId)?.userName ?? '?'} />
        ))}
      </span>
      <strong>{texts.replies(replyCount)}</strong>
      <span class="quiet">{texts.lastReply(relativeTime(lastReplyAt))}</span>
      {isNew && <span class="dot" role="img" aria-label={texts.unread} />}
    </button>
  );
}
