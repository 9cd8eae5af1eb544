/** Fills a chat's event log without HTTP, using the real deciders, codec, keys and appends. Read models catch up when a node next starts. */
import { loadConfig } from '../../adapters/platform/config/config.js';
import { messageAggregate } from '../../application/chat/aggregates.js';
import type { Logger } from '../../application/ports/index.js';
import { createKernel, noMetrics } from '../../bin/node/kernel.js';
import { findServers } from '../../bin/node/locate-servers.js';
import { release } from '../../bin/node/release.js';
import { secretSource } from '../../bin/node/secret.js';
import { chat } from '../../bin/services/chat.js';
import { settings } from '../../bin/settings.js';
import { EMPTY_CONTENT } from '../../domain/chat/events/messages.js';
import { messageStream } from '../../domain/chat/message.js';
import { isRejection } from '../../domain/shared/decider.js';

export interface Filling {
  readonly dataDir: string;
  /** Messages are distributed over them round-robin. */
  readonly channels: readonly string[];
  readonly author: string;
  readonly amount: number;
}

const CONCURRENCY = 128;
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** Message text from a fixed vocabulary: a rare word in one of a hundred messages, and a unique one in each. */
export function words(index: number): string {
  const picked = Array.from({ length: 6 }, (_, at) => `word${(index * 7919 + at * at * 104_729) % 5000}`);
  return `${picked.join(' ')} ${index % 100 === 0 ? 'wombat ' : ''}number${index}`;
}

export async function fill({ dataDir, channels, author, amount }: Filling): Promise<void> {
  const { values } = await loadConfig(settings, { flags: {}, env: {}, directory: dataDir });
  const own = { ...values, dataDir };
  const servers = await findServers(own, silent, { passing: true });
  const kernel = await createKernel({
    ...servers,
    mongoDatabase: own['mongo.database'],
    secret: (keys) => secretSource(own, servers, keys),
    node: 'bench',
    release,
    catalogs: [chat.catalog],
    projections: chat.projections,
    logger: silent,
    metrics: noMetrics,
  });
  let posted = 0;
  const postMessages = async () => {
    while (posted < amount) {
      const index = posted++;
      const context = kernel.systemContext(author);
      const messageId = kernel.derivation.idInTime('chat.message', context.commandId);
      const body = { ...EMPTY_CONTENT, content: words(index) };
      const channelId = channels[index % channels.length]!;
      const command = { type: 'PostMessage' as const, messageId, channelId, author, now: Date.now(), body };
      const outcome = await kernel.handle(messageAggregate, messageStream(messageId), command, context);
      if (isRejection(outcome)) throw new Error(outcome.rejected);
    }
  };
  try {
    await Promise.all(Array.from({ length: CONCURRENCY }, postMessages));
    // Saves the resume window as a serving node would, so that returning clients can resume their streams.
    const head = await kernel.head();
    await kernel.windows.save(new Map([[chat.name, { horizon: head, from: head }]]));
  } finally {
    await kernel.close();
    await servers.stop();
  }
}
