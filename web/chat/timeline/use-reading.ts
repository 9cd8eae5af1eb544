/** Marks a timeline as read while the user looks at its end, and remembers where what is new to him began. */
import { useEffect, useState } from 'preact/hooks';
import { isPageFocused } from '../../shared/notifications.js';
import type { Message } from '../contract.js';
import { readUpTo } from '../state/unread.js';
import { useWorkspace } from '../workspace/context.js';

/** Returns the time after which messages are new: that of the mark when the place was opened or last left alone. */
export function useReading(key: string, messages: readonly Message[], isEndInView: boolean): number {
  const { marks } = useWorkspace();
  const [newAfter, setNewAfter] = useState(() => readUpTo(marks.marks.peek(), key));
  const [isFocused, setFocused] = useState(isPageFocused);
  const newest = messages.at(-1)?.createdAt;

  useEffect(() => {
    const update = () => {
      const now = isPageFocused();
      setFocused((before) => {
        // What comes from now on is new when he is back.
        if (before && !now) setNewAfter(readUpTo(marks.marks.peek(), key));
        return now;
      });
    };
    addEventListener('focus', update);
    addEventListener('blur', update);
    document.addEventListener('visibilitychange', update);
    return () => {
      removeEventListener('focus', update);
      removeEventListener('blur', update);
      document.removeEventListener('visibilitychange', update);
    };
  }, [key]);

  const mark = readUpTo(marks.marks.value, key);
  const wasMarkedUnread = mark < newAfter;
  useEffect(() => {
    if (wasMarkedUnread) setNewAfter(mark);
  }, [wasMarkedUnread]);
  useEffect(() => {
    if (isFocused && isEndInView && newest !== undefined && !wasMarkedUnread) marks.read(key, newest);
  }, [isFocused, isEndInView, newest, key]);
  return newAfter;
}
