/** What is said in the chat, put together: channels, messages, threads and conversations. */
import type { Doors } from '../../../adapters/http/chat/admit.js';
import { channelRoutes } from '../../../adapters/http/chat/channels.js';
import { conversationRoutes } from '../../../adapters/http/chat/conversations.js';
import { fileRoutes } from '../../../adapters/http/chat/files.js';
import { messageRoutes } from '../../../adapters/http/chat/messages.js';
import type { ChatQuotas } from '../../../adapters/http/chat/quotas.js';
import { threadRoutes } from '../../../adapters/http/chat/threads.js';
import type { Metrics } from '../../../adapters/system/metrics.js';
import type { ChatAdmission } from '../../../application/chat/admission.js';
import { createChannels } from '../../../application/chat/channels.js';
import { createConversations } from '../../../application/chat/conversations.js';
import { createHistory } from '../../../application/chat/history.js';
import { createHotPages } from '../../../application/chat/hot.js';
import { createMessages } from '../../../application/chat/messages.js';
import { createOlderPages } from '../../../application/chat/older.js';
import { createOpened } from '../../../application/chat/opened.js';
import { createPages } from '../../../application/chat/pages.js';
import { createPlaces } from '../../../application/chat/places.js';
import { eraseChannels, forgetMessages } from '../../../application/chat/reactions.js';
import { createReading } from '../../../application/chat/reading.js';
import { createReplies } from '../../../application/chat/replies.js';
import { createSaying } from '../../../application/chat/said.js';
import { createAcknowledged } from '../../../application/chat/told.js';
import type { FileStore } from '../../../application/files/store.js';
import type { RevealedEvent } from '../../../application/ports.js';
import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { conversations as conversationRows } from '../../../projections/chat/conversations.js';
import { messages as messageRows } from '../../../projections/chat/messages.js';
import { replies as replyRows } from '../../../projections/chat/replies.js';
import type { Kernel } from '../../node/kernel.js';
import { createFileParts, fileProjections } from './files.js';

export const talkProjections = [messageRows, replyRows, conversationRows, ...fileProjections];

export interface TalkContext {
  readonly kernel: Kernel;
  readonly fileStore: FileStore;
  readonly admission: ChatAdmission;
  readonly doors: Doors;
  readonly quotas: ChatQuotas;
  readonly metrics?: Pick<Metrics, 'cache'>;
}

export type Talk = ReturnType<typeof createTalk>;

export function createTalk({ kernel, admission, doors, fileStore, quotas, metrics }: TalkContext) {
  const places = createPlaces({ ...kernel, admission });
  const { files, sealedFiles, lostFiles, uploads, budgets, ...tending } = createFileParts({
    kernel,
    fileStore,
    admission,
    places,
  });
  const worded = createSaying({ admission, places, uploads });
  const acknowledged = createAcknowledged();
  const hot = createHotPages();
  const older = createOlderPages();
  for (const { cache } of [hot, older]) metrics?.cache(cache);
  const opened = createOpened(kernel);
  const ports = { ...kernel, admission, places, worded, uploads, acknowledged, opened };
  const channels = createChannels(ports);
  const pages = createPages(ports);
  const reading = createReading({ admission, pages, hot, older, acknowledged });
  const messages = createMessages(ports);
  const conversations = createConversations(ports);
  const replies = createReplies({ ...ports, pages });
  const history = createHistory({ ...ports, pages });
  return {
    places,
    /** Every event of the service, in log order. */
    hear(event: RevealedEvent<ChatEvent>) {
      // Who is told that it was heard is shown no page from before.
      older.hear(event);
      hot.hear(event);
    },
    channels,
    opened,
    messages,
    replies,
    conversations,
    history,
    pages,
    reading,
    files,
    sealedFiles,
    lostFiles,
    uploads,
    reactions: [forgetMessages(ports), eraseChannels(ports), ...tending.reactions],
    periodic: tending.periodic,
    budgets: Object.values(budgets),
    downloads: budgets.downloads,
    routes: [
      ...channelRoutes({ doors, channels, quotas }),
      ...messageRoutes({ doors, places, messages, reading, history, downloads: budgets.downloads, quotas }),
      ...threadRoutes({ doors, replies, reading, quotas }),
      ...fileRoutes({ doors, files, places, replies, sealedFiles, quotas, ...budgets }),
      ...conversationRoutes({ doors, places, conversations, messages, reading, quotas }),
    ],
  };
}
