/** Notices of the system about messages to the user, and the count in the title of the page. */
import { computed, effect } from '@preact/signals';
import { askPermission, isPageFocused, notify, permission } from '../../shared/notifications.js';
import { canNotify, notifyAbout, setNotifyAbout } from '../account/notifications.js';
import type { ChatEvent, EventMessage } from '../contract.js';
import { isDirect, nameOf } from '../state/chat-state.js';
import { plainText } from '../state/format.js';
import { isMentioned } from '../state/unread.js';
import { texts } from '../texts/workspace.js';
import type { ReadMarks } from './marks.js';
import type { Store } from './store.js';
import { show, view } from './view.js';

const MAX_TEXT = 140;

export type Notices = ReturnType<typeof createNotices>;

interface NoticeDeps {
  readonly store: Store;
  readonly marks: ReadMarks;
  readonly userId: string;
}

export function createNotices({ store, marks, userId }: NoticeDeps) {
  const isOn = computed(canNotify);

  async function setOn(on: boolean) {
    setNotifyAbout(on ? 'mentions' : 'nothing');
    if (on) await askPermission();
  }

  function onEvent(event: ChatEvent) {
    if (event.type === 'NEW_MESSAGE' || event.type === 'NEW_DM_MESSAGE') consider(event.payload);
    if (event.type === 'NEW_THREAD_REPLY') consider(event.payload, event.payload.parentMessageId);
  }

  function consider(message: EventMessage, parentId?: string) {
    const { channelId, author } = message;
    if (!isOn.peek() || author.id === userId) return;
    const isDirectMessage = isDirect(channelId);
    const isRelevant = notifyAbout.peek() === 'everything' || isDirectMessage || isMentioned(message, userId);
    if (!isRelevant || marks.marks.value.muted.includes(channelId)) return;
    if (isPageFocused() && view.peek().placeId === channelId) return;
    showNotice(message, isDirectMessage, parentId);
  }

  function showNotice(message: EventMessage, isDirectMessage: boolean, parentId: string | undefined) {
    const state = store.state.peek();
    const channel = state.channels.get(message.channelId)?.name ?? '';
    const name = nameOf(state.users, message.author);
    const title = isDirectMessage ? name : texts.noticeTitle(name, channel);
    const body = plainText(message.content).slice(0, MAX_TEXT) || texts.sentFile;
    const target = parentId
      ? { panel: { kind: 'thread' as const, parentId }, replyAt: message.id }
      : { at: message.id };
    notify(title, body, message.id, () => show(message.channelId, target));
  }

  function start() {
    const stopListening = store.onEvent(onEvent);
    const stopTitle = effect(() => {
      const { serverName, channels, conversations, users } = store.state.value;
      const { placeId } = view.value;
      const channel = channels.get(placeId ?? '');
      const other = conversations.get(placeId ?? '')?.otherUser;
      const place = channel ? `#${channel.name}` : other && (users.get(other.id)?.userName ?? other.userName);
      document.title = texts.pageTitle(marks.forUser.value, place, serverName || texts.appName);
    });
    return () => {
      stopListening();
      stopTitle();
    };
  }

  return { permission, isOn, setOn, start };
}
