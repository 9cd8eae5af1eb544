/** Notices of the system about messages to the user, and the count in the title of the page. */
import { effect, signal } from '@preact/signals';
import { stored } from '../../shared/storage.js';
import type { ChatEvent, EventMessage } from '../contract.js';
import { userKey } from '../session.js';
import { isDirect, nameOf } from '../state/chat-state.js';
import { plainText } from '../state/format.js';
import { isMentioned } from '../state/unread.js';
import { texts } from '../texts/workspace.js';
import type { ReadMarks } from './marks.js';
import type { Store } from './store.js';
import { show, view } from './view.js';

const MAX_TEXT = 140;

export type Permission = NotificationPermission | 'unsupported';
export type Notices = ReturnType<typeof createNotices>;

const currentPermission = (): Permission =>
  typeof Notification === 'undefined' ? 'unsupported' : Notification.permission;

/** Whether the user is looking at the page. */
export const isLooking = (): boolean => document.visibilityState === 'visible' && document.hasFocus();

interface NoticeDeps {
  readonly store: Store;
  readonly marks: ReadMarks;
  readonly userId: string;
}

export function createNotices({ store, marks, userId }: NoticeDeps) {
  const kept = stored(userKey(userId, 'notices'), false);
  const permission = signal(currentPermission());
  /** Whether the user wants notices in this browser. */
  const isOn = signal(kept.get());

  async function setOn(on: boolean) {
    if (on && permission.value === 'default') permission.value = await Notification.requestPermission();
    isOn.value = on && permission.value === 'granted';
    kept.set(isOn.value);
  }

  function onEvent(event: ChatEvent) {
    if (event.type === 'NEW_MESSAGE' || event.type === 'NEW_DM_MESSAGE') consider(event.payload);
    if (event.type === 'NEW_THREAD_REPLY') consider(event.payload, event.payload.parentMessageId);
  }

  function consider(message: EventMessage, parentId?: string) {
    const { channelId, author } = message;
    if (!isOn.value || author.id === userId) return;
    const isDirectMessage = isDirect(channelId);
    const isTold = isDirectMessage || isMentioned(message, userId);
    if (!isTold || marks.marks.value.muted.includes(channelId)) return;
    if (isLooking() && view.peek().placeId === channelId) return;
    notify(message, isDirectMessage, parentId);
  }

  function notify(message: EventMessage, isDirectMessage: boolean, parentId: string | undefined) {
    const state = store.state.peek();
    const channel = state.channels.get(message.channelId)?.name ?? '';
    const name = nameOf(state, message.author);
    const title = isDirectMessage ? name : texts.noticeTitle(name, channel);
    const body = plainText(message.content).slice(0, MAX_TEXT) || texts.sentFile;
    try {
      const notice = new Notification(title, { body, tag: message.id });
      notice.onclick = () => {
        window.focus();
        notice.close();
        show(
          message.channelId,
          parentId ? { panel: { kind: 'thread', parentId }, replyAt: message.id } : { at: message.id },
        );
      };
    } catch {
      // Some phones allow notices from service workers only.
    }
  }

  function start() {
    const stopListening = store.onEvent(onEvent);
    const stopTitle = effect(() => {
      const { serverName, channels, conversations, users } = store.state.value;
      const { placeId } = view.value;
      let mentions = 0;
      for (const [id, unread] of marks.unread.value)
        if (!marks.marks.value.muted.includes(id)) mentions += unread.mentions;
      const channel = channels.get(placeId ?? '');
      const other = conversations.get(placeId ?? '')?.otherUser;
      const place = channel ? `#${channel.name}` : other && (users.get(other.id)?.userName ?? other.userName);
      document.title = texts.pageTitle(mentions, place, serverName || texts.appName);
    });
    return () => {
      stopListening();
      stopTitle();
    };
  }

  return { permission, isOn, setOn, start };
}
