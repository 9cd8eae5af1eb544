/** What can be done with a message: buttons beside it, the rest in a menu. */
import {
  Clock,
  Copy,
  Link,
  MailOpen,
  MessageSquareReply,
  Pencil,
  Pin,
  PinOff,
  Quote as QuoteIcon,
  Trash2,
} from 'lucide-preact';
import { messageOf } from '../../shared/api/http.js';
import { IconButton } from '../../shared/components/button.js';
import { Menu, type MenuEntry } from '../../shared/components/menu.js';
import { toast } from '../../shared/components/toasts.js';
import { COMPOSER_FIELD } from '../composer/composer.js';
import type { Message } from '../contract.js';
import { isDirect } from '../state/chat-state.js';
import { texts } from '../texts/workspace.js';
import { useWorkspace, type Workspace } from '../workspace/context.js';
import { addressOf, showPanel } from '../workspace/view.js';
import { ReactionPicker } from './reactions.js';

export const canHaveThread = ({ channelId, threadId }: Message): boolean =>
  !isDirect(channelId) && threadId === undefined;

function quote({ drafts }: Workspace, { id, channelId, threadId }: Message) {
  drafts.change(threadId ?? channelId, { quotedMessageId: id });
  const fields = document.querySelectorAll<HTMLElement>(COMPOSER_FIELD);
  (threadId === undefined ? fields[0] : fields[fields.length - 1])?.focus();
}

function linkTo({ id, channelId, threadId }: Message): string {
  const target = threadId ? { panel: { kind: 'thread', parentId: threadId } as const, replyAt: id } : { at: id };
  return location.href.replace(/#.*/, '') + addressOf(channelId, target);
}

async function copy(text: string, done: string) {
  try {
    await navigator.clipboard.writeText(text);
    toast({ text: done });
  } catch {
    toast({ tone: 'bad', text: texts.copyFailed });
  }
}

function entriesOf(workspace: Workspace, message: Message): readonly MenuEntry[] {
  const { actions, editing, marks, overlay, user } = workspace;
  const isOwn = message.author.id === user.id;
  const isTopLevel = message.threadId === undefined;
  const failed = (error: unknown) => toast({ tone: 'bad', text: messageOf(error) });
  const entries: (MenuEntry | false)[] = [
    isOwn && {
      label: texts.edit,
      icon: Pencil,
      run: () => {
        editing.value = message;
      },
    },
    canHaveThread(message) && {
      label: message.pinnedAt === null ? texts.pin : texts.unpin,
      icon: message.pinnedAt === null ? Pin : PinOff,
      run: () => void actions.setPinned(message, message.pinnedAt === null).catch(failed),
    },
    isTopLevel && {
      label: texts.markUnread,
      icon: MailOpen,
      run: () => marks.unreadFrom(message.channelId, message.createdAt),
    },
    'separator',
    message.content !== '' && {
      label: texts.copyText,
      icon: Copy,
      run: () => void copy(message.content, texts.copiedText),
    },
    { label: texts.copyLink, icon: Link, run: () => void copy(linkTo(message), texts.copiedLink) },
    message.updatedAt !== null && {
      label: texts.showHistory,
      icon: Clock,
      run: () => {
        overlay.value = { kind: 'history', message };
      },
    },
    ...(isOwn || user.isAdmin ? ['separator' as const] : []),
    (isOwn || user.isAdmin) && {
      label: texts.delete,
      icon: Trash2,
      danger: true,
      run: () => {
        overlay.value = { kind: 'delete', message };
      },
    },
  ];
  return entries.filter((entry) => entry !== false);
}

export function MessageToolbar({ message, isParent }: { message: Message; isParent: boolean }) {
  const workspace = useWorkspace();
  return (
    <div class="message-toolbar" role="toolbar" aria-label={texts.messageActions}>
      <ReactionPicker message={message} />
      {canHaveThread(message) && !isParent && (
        <IconButton
          small
          icon={MessageSquareReply}
          label={texts.replyInThread}
          onClick={() => showPanel({ kind: 'thread', parentId: message.id })}
        />
      )}
      <IconButton small icon={QuoteIcon} label={texts.quote} onClick={() => quote(workspace, message)} />
      <Menu small label={texts.more} items={() => entriesOf(workspace, message)} />
    </div>
  );
}
