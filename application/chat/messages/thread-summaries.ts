/** Thread summaries as of the live feed, for frames of events that do not carry them; and the current ones, for answers. */
import { LRUCache } from 'lru-cache';
import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { isDirect } from '../../../domain/chat/events/channels.js';
import { parentOf, type Thread } from '../../../domain/chat/events/messages.js';
import { type ThreadEvent, type ThreadState, threadOf, threadStream } from '../../../domain/chat/thread.js';
import { type Handled, isEvent, readBackward } from '../../command/index.js';
import { estimateBytes } from '../../concurrency/index.js';
import type { Cache, EventLog, Position, RevealedEvent } from '../../ports/index.js';
import { handleByType } from '../../subscription/index.js';

/** Some 10,000 threads with a few participants. */
const LIMIT_BYTES = 4 * 1024 * 1024;
/** Events read first from the end of a thread; the last one usually suffices. */
const FIRST_READ_EVENTS = 2;

export type ThreadSummaries = ReturnType<typeof createThreadSummaries>;

export function createThreadSummaries({ log }: { readonly log: Pick<EventLog, 'read'> }) {
  /** By message. */
  const deliveredThreads = new LRUCache<string, { readonly thread: Thread | null }>({
    maxSize: LIMIT_BYTES,
    sizeCalculation: (summary, threadId) => estimateBytes(threadId) + estimateBytes(summary),
  });

  async function read(threadId: string, before?: Position): Promise<Thread | null> {
    for await (const page of readBackward(log, threadStream(threadId), undefined, FIRST_READ_EVENTS)) {
      const event = page.find(({ position }) => before === undefined || position < before);
      if (event) return isEvent<Closed>('ThreadClosed', event) ? null : (event.data as Summary['data']).thread;
    }
    return null;
  }

  const note = (threadId: string, thread: Thread | null): undefined => void deliveredThreads.set(threadId, { thread });

  function load({ position }: RevealedEvent, threadId: string, channelId: string): Promise<void> | undefined {
    if (isDirect(channelId) || deliveredThreads.has(threadId)) return undefined;
    return read(threadId, position).then((thread) => void deliveredThreads.set(threadId, { thread }));
  }

  const loadMessage = (event: RevealedEvent<MessageChange>) =>
    load(event, parentOf(event.data.messageId) ?? event.data.messageId, event.data.channelId);

  /** A reaction to a message shows no thread; one to a reply is delivered while its thread exists. */
  function loadReaction(event: RevealedEvent<ReactionChange>) {
    const parent = parentOf(event.data.messageId);
    return parent === undefined ? undefined : load(event, parent, event.data.channelId);
  }

  return {
    /**
     * Takes every event of the service, in log order, before it is delivered. Returns a promise if the thread that its
     * frame shows must be read.
     */
    prepare: handleByType<RevealedEvent<ThreadEvent | MessageChange | ReactionChange>, Promise<void> | undefined>({
      ReplyPosted: ({ data }) => note(data.messageId, data.thread),
      ReplyRemoved: ({ data }) => note(data.messageId, data.thread),
      ThreadClosed: ({ data }) => note(data.messageId, null),
      MessageEdited: loadMessage,
      MessagePinned: loadMessage,
      MessageUnpinned: loadMessage,
      ReactionAdded: loadReaction,
      ReactionRemoved: loadReaction,
    }),

    /** The summary as of the event that is being delivered; null without replies. */
    delivered: (threadId: string): Thread | null => deliveredThreads.get(threadId)?.thread ?? null,

    /** Reads the summary before a position, or now; null without replies or once the thread is closed. */
    read,

    cache: {
      name: 'chat.threads',
      limitBytes: LIMIT_BYTES,
      bytes: () => deliveredThreads.calculatedSize,
    } satisfies Cache,
  };
}

/** Summary of a thread just after a command; of its current state if the process manager of threads was faster. */
export async function summaryAfter({ events, state }: Handled<ThreadState, ThreadEvent>): Promise<Thread | null> {
  const [event] = events;
  return event && 'thread' in event.data ? event.data.thread : threadOf(await state());
}

type Closed = Extract<ThreadEvent, { type: 'ThreadClosed' }>;
type Summary = Exclude<ThreadEvent, Closed>;
type MessageChange = ChatEvent<'MessageEdited' | 'MessagePinned' | 'MessageUnpinned'>;
type ReactionChange = ChatEvent<'ReactionAdded' | 'ReactionRemoved'>;
