/** Quoted messages: from what is loaded, else from their history. */
import { type Signal, signal } from '@preact/signals';
import { ApiError } from '../../shared/api/http.js';
import type { Author, ChatEvent, Message } from '../contract.js';
import { findMessage } from '../state/timeline.js';
import type { Actions } from './actions.js';
import type { Store } from './store.js';

export type Quoted = Pick<Message, 'id' | 'content' | 'images' | 'attachments'> & { readonly author: Author };

/** `gone`: deleted. Undefined while it is loading. */
export type Quote = Quoted | 'gone' | undefined;

export type Quotes = ReturnType<typeof createQuotes>;

export function createQuotes(store: Store, actions: Actions) {
  const loaded = new Map<string, Signal<Quote>>();

  function loadedQuote(id: string): Signal<Quote> {
    const existing = loaded.get(id);
    if (existing) return existing;
    const created = signal<Quote>(undefined);
    loaded.set(id, created);
    void load(id, created);
    return created;
  }

  async function load(id: string, quote: Signal<Quote>) {
    try {
      const newest = (await actions.history({ id })).at(-1);
      // An event that came meanwhile is newer.
      quote.value ??= newest ? { ...newest, id } : 'gone';
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) quote.value = 'gone';
      else loaded.delete(id);
    }
  }

  function change(id: string, changed: Quote) {
    const quote = loaded.get(id);
    if (quote) quote.value = changed;
  }

  return {
    /** Reading it subscribes. */
    of(id: string, timelineKeys: readonly string[]): Quote {
      const { timelines } = store.state.value;
      for (const key of timelineKeys) {
        const message = findMessage(timelines.get(key), id);
        if (message) return message;
      }
      return loadedQuote(id).value;
    },
    /** Follows changes of quoted messages. */
    onEvent(event: ChatEvent) {
      switch (event.type) {
        case 'UPDATE_MESSAGE':
        case 'UPDATE_DM_MESSAGE':
        case 'UPDATE_THREAD_REPLY':
          return change(event.payload.id, event.payload);
        case 'DELETE_MESSAGE':
        case 'DELETE_DM_MESSAGE':
        case 'DELETE_THREAD_REPLY':
          return change(event.payload.id, 'gone');
        case 'RESET':
          // What is in view is loaded again.
          return loaded.clear();
      }
    },
  };
}
