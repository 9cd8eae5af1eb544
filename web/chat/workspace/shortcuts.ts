/** Keys that work everywhere on the page. */
import { useEffect } from 'preact/hooks';
import { COMPOSER_FIELD } from '../composer/composer.js';
import { settingsPath } from '../settings-route.js';
import { sortedChannels, sortedConversations } from '../state/chat-state.js';
import type { Workspace } from './context.js';
import { show, showPanel, view } from './view.js';

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');

export function useShortcuts(workspace: Workspace): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => handle(workspace, event);
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
}

function handle(workspace: Workspace, event: KeyboardEvent): void {
  const { overlay } = workspace;
  if (event.defaultPrevented || settingsPath.peek() !== undefined || event.isComposing) return;
  const isCommand = event.ctrlKey || event.metaKey;
  const key = event.key.toLowerCase();
  if (isCommand && !event.altKey && !event.shiftKey && key === 'k') {
    event.preventDefault();
    overlay.value = overlay.peek()?.kind === 'switcher' ? undefined : { kind: 'switcher' };
    return;
  }
  if (overlay.peek() || document.querySelector(':popover-open')) return;
  if (isCommand && event.shiftKey && key === 'f') {
    event.preventDefault();
    showPanel({ kind: 'search', text: '' });
  } else if (event.altKey && !isCommand && (key === 'arrowup' || key === 'arrowdown')) {
    event.preventDefault();
    step(workspace, key === 'arrowdown' ? 1 : -1, event.shiftKey);
  } else if (key === 'escape') {
    closeInnermost(workspace, event);
  } else if (!isTyping(event.target)) typeless(workspace, event);
}

/** Closes what is open, innermost first; at the end, marks the place as read. */
function closeInnermost({ isSidebarOpen, marks, store }: Workspace, event: KeyboardEvent) {
  const { panel, placeId } = view.peek();
  if (isSidebarOpen.peek()) isSidebarOpen.value = false;
  else if (panel) {
    showPanel(undefined);
    document.querySelector<HTMLElement>(COMPOSER_FIELD)?.focus();
  } else if (placeId !== undefined) {
    const newest = store.state.peek().timelines.get(placeId)?.messages.at(-1);
    if (newest) marks.read(placeId, newest.createdAt);
    if (!isTyping(event.target)) document.querySelector<HTMLElement>(COMPOSER_FIELD)?.focus();
  }
}

/** Keys while no field has the focus. */
function typeless({ overlay }: Workspace, event: KeyboardEvent) {
  if (event.key === '?') {
    event.preventDefault();
    overlay.value = { kind: 'shortcuts' };
    return;
  }
  if (event.key === 'ArrowUp' || event.key === 'ArrowDown') moveBetweenMessages(event);
  const isText = event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey && !event.altKey;
  const inControl = event.target instanceof Element && event.target.closest('button, a, [role=dialog], .menu');
  // Typing begins a message.
  if (isText && !inControl) document.querySelector<HTMLElement>(COMPOSER_FIELD)?.focus();
}

/** With the focus on a message or the list, arrows go to the next message. */
function moveBetweenMessages(event: KeyboardEvent) {
  const list = event.target instanceof Element ? event.target.closest('.anchored-list') : null;
  if (!list) return;
  const messages = [...list.querySelectorAll<HTMLElement>('[data-message]')];
  const current = messages.findIndex((each) => each.contains(document.activeElement));
  const isDown = event.key === 'ArrowDown';
  const next = current < 0 ? messages.at(-1) : messages[current + (isDown ? 1 : -1)];
  if (!next) return;
  event.preventDefault();
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: 'nearest' });
}

/** Goes to the next or previous place of the sidebar, or to the next with something unread. */
function step({ store, marks }: Workspace, direction: 1 | -1, unreadOnly: boolean) {
  const state = store.state.peek();
  const all = [...sortedChannels(state.channels), ...sortedConversations(state.conversations)].map(({ id }) => id);
  const { placeId } = view.peek();
  const unread = marks.unread.peek();
  const candidates = all.filter((id) => id === placeId || !unreadOnly || unread.has(id));
  const index = candidates.indexOf(placeId ?? '');
  const next = candidates.at((index + direction) % candidates.length);
  if (next !== undefined) show(next);
}
