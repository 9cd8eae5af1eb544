/** Notifications of messages, if wanted. They say nothing of the room: the system may keep what they say. */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { toast } from '../../shared/components/toasts.js';
import { askPermission, isPageFocused, notify, permission } from '../../shared/notifications.js';
import { stored } from '../../shared/storage.js';
import { isMessage } from '../conversation.js';
import { texts } from '../texts.js';
import { useRoom } from './context.js';

const words = texts.notifications;
const storage = stored('rooms.notify', false);

/** Milliseconds for the focused tab to announce that it displays a message. */
const WAIT_MS = 500;

/** Where the focused tab announces the messages it displays, so that other tabs of the browser do not notify of them. */
const announcements = openChannel('rooms.displayed');
/** Time of the newest message displayed by another tab, by room id. */
const displayed = new Map<string, number>();
if (announcements)
  announcements.onmessage = ({ data: { roomId, at } }: MessageEvent<{ roomId: string; at: number }>) =>
    void displayed.set(roomId, at);

/** Undefined in browsers that refuse storage, and channels with it. */
function openChannel(name: string): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(name);
  } catch {
    return undefined;
  }
}

const isEnabled = signal(storage.get());

export const isNotifying = (): boolean => isEnabled.value && permission.value === 'granted';

/** Turns them on or off in this browser; must be called from a click. */
export async function toggleNotifications(): Promise<void> {
  isEnabled.value = !isNotifying();
  storage.set(isEnabled.value);
  if (!isEnabled.value) return;
  const answer = await askPermission();
  if (answer !== 'granted') toast({ text: answer === 'unsupported' ? words.unsupported : words.refused, tone: 'bad' });
}

/** Notifies of new messages of others while the user looks elsewhere. */
export function useNotifications(): void {
  const { session } = useRoom();
  const newest = session.conversation.value.entries.findLast(isMessage);
  const isLoaded = session.isLoaded.value;
  /** Id of the newest message that is not to be notified of; undefined before the room is loaded. */
  const known = useRef<string | undefined | null>(undefined);

  useEffect(() => {
    if (!isLoaded) return;
    const isNew = known.current !== undefined && newest !== undefined && newest.id !== known.current;
    known.current = newest?.id ?? null;
    if (!isNew || newest.senderId === session.ownId) return;
    const { roomId } = session;
    if (isPageFocused()) {
      announcements?.postMessage({ roomId, at: newest.at });
      return;
    }
    const timer = setTimeout(() => {
      const isDisplayed = isPageFocused() || (displayed.get(roomId) ?? 0) >= newest.at;
      if (!isDisplayed && isNotifying()) notify(words.message, words.open, roomId);
    }, WAIT_MS);
    return () => clearTimeout(timer);
  }, [newest?.id, isLoaded]);
}
