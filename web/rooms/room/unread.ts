/** Messages that came while the page was hidden: their number in the title of the tab, a mark before the first one. */
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { isMessage } from '../conversation.js';
import { texts } from '../texts.js';
import { useRoom } from './context.js';

/** Id of the first message that was not seen, until the page is hidden again. */
export function useUnread(): string | undefined {
  const { session } = useRoom();
  const { entries, title } = session.conversation.value;
  /** Id of the newest message that was seen. */
  const seen = useSignal<string | undefined>(undefined);
  const mark = useSignal<string | undefined>(undefined);
  const messages = entries.filter(isMessage);
  const newest = messages.at(-1)?.id;
  const roomTitle = title || texts.room.untitled;

  useEffect(() => {
    const isHidden = document.visibilityState === 'hidden' && session.isLoaded.value;
    if (!isHidden) seen.value = newest;
    const firstUnread = messages.findLastIndex(({ id }) => id === seen.value) + 1;
    const unread = messages.length - firstUnread;
    if (unread > 0) mark.value ??= messages[firstUnread]?.id;
    document.title = unread > 0 ? `(${unread}) ${roomTitle}` : roomTitle;
    const onVisibility = () => {
      if (document.visibilityState === 'hidden') mark.value = undefined;
      else document.title = roomTitle;
      seen.value = newest;
    };
    document.addEventListener('visibilitychange', onVisibility);
    return () => document.removeEventListener('visibilitychange', onVisibility);
  }, [newest, roomTitle]);
  return mark.value;
}
