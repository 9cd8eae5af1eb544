/** What is said in the chat, put together: channels, messages, threads and conversations. */
import type { AuthGuards } from '../../../adapters/http/chat/auth.js';
import { channelRoutes } from '../../../adapters/http/chat/channels.js';
import { conversationRoutes } from '../../../adapters/http/chat/conversations.js';
import { fileRoutes } from '../../../adapters/http/chat/files.js';
import { messageRoutes } from '../../../adapters/http/chat/messages.js';
import type { ChatQuotas } from '../../../adapters/http/chat/quotas.js';
import { threadRoutes } from '../../../adapters/http/chat/threads.js';
import type { Metrics } from '../../../adapters/platform/observability/metrics.js';
import { createChannels } from '../../../application/chat/channels/channels.js';
import { createConversations } from '../../../application/chat/channels/conversations.js';
import { createWritePositions } from '../../../application/chat/messages/acknowledged-positions.js';
import { eraseChannels, forgetMessages } from '../../../application/chat/messages/erase-content-reactions.js';
import { createHistory } from '../../../application/chat/messages/message-history.js';
import { createMessages } from '../../../application/chat/messages/messages.js';
import { createOlderPages } from '../../../application/chat/messages/older-pages.js';
import { createPageCache } from '../../../application/chat/messages/page-cache.js';
import { createPages } from '../../../application/chat/messages/page-query.js';
import { createContentPreparer } from '../../../application/chat/messages/prepare-content.js';
import { createReading } from '../../../application/chat/messages/read-messages.js';
import { createReplies } from '../../../application/chat/messages/replies.js';
import { createRowMapper } from '../../../application/chat/messages/row-mapper.js';
import { createVisibility } from '../../../application/chat/messages/visibility.js';
import type { Authentication } from '../../../application/chat/sign-in/authenticate.js';
import type { FileStore, RevealedEvent } from '../../../application/ports/index.js';
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
  readonly admission: Authentication;
  readonly doors: AuthGuards;
  readonly quotas: ChatQuotas;
  readonly metrics?: Pick<Metrics, 'cache'>;
}

export type Talk = ReturnType<typeof createTalk>;

export function createTalk({ kernel, admission, doors, fileStore, quotas, metrics }: TalkContext) {
  const places = createVisibility({ ...kernel, admission });
  const { files, sealedFiles, lostFiles, uploads, budgets, ...tending } = createFileParts({
    kernel,
    fileStore,
    admission,
    places,
  });
  const prepareContent = createContentPreparer({ admission, places, uploads });
  const acknowledged = createWritePositions();
  const hot = createPageCache();
  const older = createOlderPages();
  for (const { cache } of [hot, older]) metrics?.cache(cache);
  const opened = createRowMapper(kernel);
  const ports = { ...kernel, admission, places, prepareContent, uploads, acknowledged, opened };
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
