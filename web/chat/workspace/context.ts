/** Everything the views of the workspace use, given by context. */
import { effect, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { http } from '../api.js';
import type { Message } from '../contract.js';
import { createImageCache } from '../files/image-cache.js';
import { bearer, refreshSession, type User, updateUser } from '../session.js';
import { createActions } from './actions.js';
import { createDraftSender } from './draft-sender.js';
import { createDrafts } from './drafts.js';
import { createEditing } from './editing.js';
import { createMarks } from './marks.js';
import { createNotices } from './notices.js';
import { createQuotes } from './quotes.js';
import { createSending } from './sending.js';
import { createStore } from './store.js';
import { createTimelines } from './timelines.js';
import { createUploads } from './uploads.js';
import { timelinesInView } from './view.js';

/** What is open over the workspace. */
export type Overlay =
  | { readonly kind: 'switcher' | 'shortcuts' | 'new-channel' | 'new-direct' | 'sign-out' }
  | { readonly kind: 'edit-channel' | 'delete-channel'; readonly channelId: string }
  | { readonly kind: 'delete' | 'history'; readonly message: Message }
  | { readonly kind: 'image'; readonly placeId: string; readonly images: readonly string[]; readonly index: number };

export type Workspace = ReturnType<typeof createWorkspace>;

export function createWorkspace(user: User) {
  const store = createStore({ http, headers: bearer, onUnauthorized: refreshSession });
  const userId = user.id;
  const timelines = createTimelines({ http, store });
  const actions = createActions({ http, store, userId });
  const marks = createMarks(userId, store);
  const drafts = createDrafts(userId);
  const sending = createSending({ http, store, userId });
  const notices = createNotices({ store, marks, userId });
  const quotes = createQuotes(store, actions);
  const images = createImageCache(http);
  const uploads = createUploads(drafts);
  const draftSender = createDraftSender({ drafts, uploads, sending });
  const { editing, onEvent: onEventWhileEditing } = createEditing({ userId, drafts, draftSender, actions });

  /** Runs everything until the returned function is called. */
  function start(): () => void {
    const stopEvents = store.onEvent((event) => {
      if (event.type === 'UPDATE_USER' && event.payload.id === userId) updateUser(event.payload);
      if (event.type === 'NEW_MESSAGE' || event.type === 'NEW_DM_MESSAGE') {
        // A place that is new, or was not read ahead: its unread marks need its messages.
        const { channelId } = event.payload;
        if (!store.state.peek().timelines.has(channelId)) {
          // Until places are known the message may be of one of them or of a thread; all are read ahead then.
          if (store.isLoaded.peek()) void timelines.loadNewest(channelId);
        } else if (!timelinesInView().includes(channelId)) timelines.bound(channelId);
      }
      if (event.type === 'NEW_THREAD_REPLY' && !timelinesInView().includes(event.payload.parentMessageId))
        timelines.bound(event.payload.parentMessageId);
      quotes.onEvent(event);
      onEventWhileEditing(event);
      if (event.type === 'RESET') void timelines.reload(timelinesInView());
    });
    const stopRetries = effect(() => {
      if (store.connection.value === 'connected') timelines.retryFailed();
    });
    const stops = [
      stopRetries,
      store.start(),
      marks.start(),
      sending.start(),
      draftSender.start(),
      notices.start(),
      stopEvents,
      images.clear,
      uploads.stop,
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  return {
    user,
    http,
    store,
    timelines,
    actions,
    marks,
    drafts,
    sending,
    notices,
    quotes,
    images,
    uploads,
    draftSender,
    overlay: signal<Overlay | undefined>(undefined),
    /** Message whose toolbar is shown. */
    active: signal<string | undefined>(undefined),
    /** Message that was jumped to, for a moment. */
    flash: signal<string | undefined>(undefined),
    editing,
    isSidebarOpen: signal(false),
    start,
  };
}

export const WorkspaceContext = createContext<Workspace | undefined>(undefined);

export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (!workspace) throw new Error('There is no workspace around this component.');
  return workspace;
}
