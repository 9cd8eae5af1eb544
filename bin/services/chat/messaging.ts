/** Composes messaging of the chat: channels, messages, threads, conversations and files. */
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
import {
  eraseDeletedChannels,
  truncateDeletedMessages,
} from '../../../application/chat/messages/erase-content-reactions.js';
import { createHistory } from '../../../application/chat/messages/message-history.js';
import { createPageQueries, createRowMapper } from '../../../application/chat/messages/message-rows.js';
import { createContentPreparer, createMessages } from '../../../application/chat/messages/messages.js';
import { createPageCache } from '../../../application/chat/messages/page-cache.js';
import { createMessageReader } from '../../../application/chat/messages/read-messages.js';
import { createReplies } from '../../../application/chat/messages/replies.js';
import { createVisibility } from '../../../application/chat/messages/visibility.js';
import type { Authentication } from '../../../application/chat/sign-in/authenticate.js';
import { createWritePositions } from '../../../application/consistency/index.js';
import type { FileStore } from '../../../application/ports/index.js';
import { conversations as conversationRows } from '../../../projections/chat/conversations.js';
import { messages as messageRows } from '../../../projections/chat/messages.js';
import { replies as replyRows } from '../../../projections/chat/replies.js';
import type { Kernel } from '../../node/kernel.js';
import { createFileParts, fileProjections } from './files.js';

export const messagingProjections = [messageRows, replyRows, conversationRows, ...fileProjections];

export interface MessagingContext {
  readonly kernel: Kernel;
  readonly fileStore: FileStore;
  readonly admission: Authentication;
  readonly guards: AuthGuards;
  readonly quotas: ChatQuotas;
  readonly metrics?: Pick<Metrics, 'cache'>;
}

export type Messaging = ReturnType<typeof createMessaging>;

export function createMessaging({ kernel, admission, guards, fileStore, quotas, metrics }: MessagingContext) {
  const visibility = createVisibility({ ...kernel, admission });
  const { files, encryptedFiles, findMissingFiles, attachments, budgets, ...maintenance } = createFileParts({
    kernel,
    fileStore,
    admission,
    visibility,
  });
  const prepareContent = createContentPreparer({ admission, visibility, uploads: attachments });
  const writePositions = createWritePositions();
  const pageCache = createPageCache();
  metrics?.cache(pageCache.cache);
  const rowMapper = createRowMapper(kernel);
  const ports = {
    ...kernel,
    admission,
    visibility,
    prepareContent,
    uploads: attachments,
    writePositions,
    opened: rowMapper,
  };
  const channels = createChannels(ports);
  const pages = createPageQueries(ports);
  const reading = createMessageReader({ admission, pages, pageCache, writePositions });
  const messages = createMessages(ports);
  const conversations = createConversations(ports);
  const replies = createReplies({ ...ports, pages });
  const history = createHistory({ ...ports, pages });
  return {
    visibility,
    handlers: [pageCache.onEvent],
    channels,
    rowMapper,
    messages,
    replies,
    conversations,
    history,
    pages,
    reading,
    files,
    encryptedFiles,
    findMissingFiles,
    attachments,
    reactions: [truncateDeletedMessages(ports), eraseDeletedChannels(ports), ...maintenance.reactions],
    periodic: maintenance.periodic,
    budgets: Object.values(budgets),
    downloads: budgets.downloads,
    routes: [
      ...channelRoutes({ guards, channels, quotas }),
      ...messageRoutes({ guards, visibility, messages, reading, history, downloads: budgets.downloads, quotas }),
      ...threadRoutes({ guards, replies, reading, quotas }),
      ...fileRoutes({ guards, files, visibility, replies, sealedFiles: encryptedFiles, quotas, ...budgets }),
      ...conversationRoutes({ guards, visibility, conversations, messages, reading, quotas }),
    ],
  };
}
