/** Composes messaging of the chat: channels, messages, threads, conversations and files. */
import { join, resolve } from 'node:path';
import { aes256gcm } from '../../../adapters/crypto/cipher.js';
import { createDirectoryStore } from '../../../adapters/filesystem/directory-store.js';
import type { AuthGuards } from '../../../adapters/http/chat/auth.js';
import { channelRoutes } from '../../../adapters/http/chat/channels.js';
import { conversationRoutes } from '../../../adapters/http/chat/conversations.js';
import { createFileBudgets, fileRoutes } from '../../../adapters/http/chat/files.js';
import { messageRoutes } from '../../../adapters/http/chat/messages.js';
import type { ChatQuotas } from '../../../adapters/http/chat/quotas.js';
import { threadRoutes } from '../../../adapters/http/chat/threads.js';
import { createGridFsStore } from '../../../adapters/mongo/gridfs-blobs.js';
import type { Metrics } from '../../../adapters/platform/observability/metrics.js';
import { createChannels } from '../../../application/chat/channels/channels.js';
import { createConversations } from '../../../application/chat/channels/conversations.js';
import { createMissingBlobCheck } from '../../../application/chat/files/check-missing-blobs.js';
import { createFileLifecycle, FILE_SWEEP_EVERY_MS } from '../../../application/chat/files/file-lifecycle.js';
import { createFiles } from '../../../application/chat/files/files.js';
import {
  eraseDeletedChannels,
  eraseDeletedMessages,
} from '../../../application/chat/messages/erase-content-reactions.js';
import { createContents } from '../../../application/chat/messages/message-content.js';
import { createHistory } from '../../../application/chat/messages/message-history.js';
import { createPageQueries, createRowMapper } from '../../../application/chat/messages/message-rows.js';
import { createMessages } from '../../../application/chat/messages/messages.js';
import { createPageCache } from '../../../application/chat/messages/page-cache.js';
import { createMessageReader } from '../../../application/chat/messages/read-messages.js';
import { createReplies } from '../../../application/chat/messages/replies.js';
import { completeThreads } from '../../../application/chat/messages/thread-reaction.js';
import type { ThreadSummaries } from '../../../application/chat/messages/thread-summaries.js';
import { createVisibility } from '../../../application/chat/messages/visibility.js';
import type { Authentication } from '../../../application/chat/sign-in/authenticate.js';
import { createCaughtUpBarrier, createWritePositions } from '../../../application/consistency/index.js';
import type { FileStore } from '../../../application/ports/index.js';
import { createSealedFiles } from '../../../application/secrets/index.js';
import { HEAD_BYTES } from '../../../domain/shared/index.js';
import type { Kernel } from '../../node/kernel.js';
import type { AnnalsValues } from '../../settings.js';

/** Prefix of the collections with uploaded files. */
export const GRID_FS = 'chat_bytes';

/** Directory with uploaded files. */
export const directoryOf = (values: Pick<AnnalsValues, 'dataDir'>) => join(resolve(values.dataDir), 'files');

/** In MongoDB if it is configured, as other nodes may share it; otherwise in the data directory. */
export const fileStoreOf = ({ mongo, clock }: Kernel, values: AnnalsValues): FileStore =>
  values['mongo.url'] ? createGridFsStore(mongo.models, GRID_FS, clock.now) : createDirectoryStore(directoryOf(values));

/** Location of the file store, for log lines. */
export const fileStoreName = (values: AnnalsValues): string =>
  values['mongo.url'] ? `${GRID_FS} in MongoDB` : directoryOf(values);

export interface MessagingContext {
  readonly kernel: Kernel;
  readonly fileStore: FileStore;
  readonly admission: Authentication;
  readonly guards: AuthGuards;
  readonly quotas: ChatQuotas;
  readonly threads: ThreadSummaries;
  readonly metrics: Pick<Metrics, 'cache' | 'budget'>;
}

export function createMessaging({ kernel, admission, guards, fileStore, quotas, threads, metrics }: MessagingContext) {
  const visibility = createVisibility({ ...kernel, admission });
  const sealedFiles = createSealedFiles(fileStore, aes256gcm, HEAD_BYTES);
  const writePositions = createWritePositions();
  const opened = createRowMapper(kernel);
  const common = { ...kernel, context: kernel.systemContext, admission, visibility, threads, writePositions, opened };
  const filePorts = { ...common, fileStore, sealedFiles };
  const files = createFiles(filePorts);
  const fileLifecycle = createFileLifecycle(filePorts);
  const contents = createContents({ ...common, files });
  const ports = { ...common, contents };
  const budgets = createFileBudgets();
  for (const budget of Object.values(budgets)) metrics.budget(budget);
  const pageCache = createPageCache();
  metrics.cache(pageCache.cache);
  const channels = createChannels(ports);
  const pages = createPageQueries(ports);
  const reading = createMessageReader({ ...common, pages, pageCache });
  const messages = createMessages(ports);
  const conversations = createConversations(ports);
  const replies = createReplies({ ...ports, messages });
  const build = kernel.served.collectionOf('chat.messages');
  const untilCurrent = createCaughtUpBarrier('chat.messages', { ...kernel, build });
  const history = createHistory(ports);
  const useCases = { visibility, channels, messages, replies, conversations, history, reading };
  const routePorts = { ...useCases, guards, quotas };
  return {
    ...useCases,
    pages,
    opened,
    files,
    sealedFiles,
    findMissingFiles: createMissingBlobCheck(filePorts),
    contents,
    handlers: [pageCache.onEvent],
    reactions: [
      eraseDeletedMessages(ports),
      completeThreads(ports),
      eraseDeletedChannels({ ...ports, untilCurrent }),
      fileLifecycle.reaction,
    ],
    periodic: [{ name: 'chat.file-sweep', everyMs: FILE_SWEEP_EVERY_MS, run: fileLifecycle.sweep }],
    downloads: budgets.downloads,
    routes: [
      ...channelRoutes(guards, channels, quotas),
      ...messageRoutes({ ...routePorts, downloads: budgets.downloads }),
      ...threadRoutes(routePorts),
      ...fileRoutes({ ...routePorts, ...budgets, files, sealedFiles }),
      ...conversationRoutes(routePorts),
    ],
  };
}
