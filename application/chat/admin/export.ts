/** Exports all chat data as streamed JSON, with one page of rows in memory at a time. */

import { CHANNELS, channelsFor } from '../../../domain/chat/channels.js';
import { participantsOf } from '../../../domain/chat/events/channels.js';
import { SETTINGS } from '../../../domain/chat/events/settings.js';
import { ROSTER, type RosterState } from '../../../domain/chat/roster.js';
import { webhooksOf } from '../../../domain/chat/webhooks.js';
import type { KernelPorts } from '../../command/index.js';
import { streamList } from '../../concurrency/index.js';
import { type RowPages, readRowPages } from '../../consistency/index.js';
import type { CommandContext } from '../../ports/index.js';
import { channelsAggregate, rosterAggregate, serverAggregate } from '../aggregates.js';
import { channelView } from '../channels/channels.js';
import type { ConversationRow } from '../channels/conversations.js';
import type { MessageRow, RowMapper } from '../messages/message-rows.js';
import { type MessageSnapshot, messageView } from '../messages/message-view.js';
import { userView } from '../people/users.js';
import { AUDIT_PAGE, type Audit, type AuditRow, entryOf } from './audit-log.js';
import { webhookView } from './webhooks.js';

export interface ExportPorts
  extends Pick<KernelPorts, 'aggregates' | 'rows' | 'projectionProgress' | 'clock' | 'vault'> {
  readonly audit: Pick<Audit, 'note'>;
  readonly opened: RowMapper;
}

const PAGE = 200;
const MODELS = ['chat.messages', 'chat.conversations', 'chat.audit'];

export type Export = ReturnType<typeof createExport>;

export function createExport({ aggregates, rows, projectionProgress, vault, clock, audit, opened }: ExportPorts) {
  /**
   * Records the export in the audit log, and returns the pieces of its JSON, which can be read once. `by`: an admin, or
   * the operator. `patienceMs`: time to wait for the read models.
   */
  return async function exportChat(by: string, context: CommandContext, patienceMs?: number) {
    const exportedAt = clock.now();
    const position = await audit.note({ type: 'Exported', data: { by, exportedAt } }, context);
    const settling = MODELS.map((each) => projectionProgress.wait(each, position, patienceMs));
    // A read model is behind, so acknowledged writes may be missing.
    const isPending = (await Promise.all(settling)).includes(false);
    return { position, isPending, pieces: () => pieces(exportedAt) };
  };

  async function* pieces(exportedAt: number): AsyncGenerator<string> {
    const { state: roster } = await aggregates.load(rosterAggregate, ROSTER);
    const { state: channels } = await aggregates.load(channelsAggregate, CHANNELS);
    const { state: settings } = await aggregates.load(serverAggregate, SETTINGS);
    const users = [...roster.users.values()].filter(({ isRemoved }) => !isRemoved);
    const all = channelsFor(channels, { userId: '', isAdmin: true });
    yield `{"exportedAt":${exportedAt}`;
    yield* streamList(',"users":', singlePage(users.map((user) => ({ ...userView(user), email: user.email }))));
    yield* streamList(',"channels":', singlePage(all.map((each) => channelView(roster, each))));
    yield* streamList(',"messages":', messages(roster, all));
    yield* streamList(',"conversations":', conversations());
    yield `,"serverSettings":${JSON.stringify({ name: settings.name })}`;
    yield* streamList(',"webhooks":', singlePage(webhooksOf(channels.webhooks).map(webhookView)));
    yield* streamList(',"auditLog":', auditLog(), '}');
  }

  /** Messages of channels, then of conversations, oldest first; replies follow their message. */
  async function* messages(roster: RosterState, channels: readonly { readonly id: string }[]) {
    for (const { id } of channels) yield* messagesIn(roster, id);
    for await (const some of conversations()) for (const { id } of some) yield* messagesIn(roster, id);
  }

  async function* messagesIn(roster: RosterState, channel: string): AsyncGenerator<readonly object[]> {
    for await (const message of messagesOf(channel, { list: channel })) {
      yield [messageView(roster, message)];
      if (!message.thread) continue;
      for await (const reply of messagesOf(channel, { list: message.id })) yield [messageView(roster, reply)];
    }
  }

  async function* messagesOf(channel: string, filter: RowPages['filter']): AsyncGenerator<MessageSnapshot> {
    const pages = readRowPages<MessageRow>(rows, 'chat.messages', { filter, by: 'posted', after: 0n, limit: PAGE });
    for await (const page of pages) for (const { message } of await opened.messages(channel, page)) yield message;
  }

  /** Each conversation has a row per participant; only the first one's is exported. */
  async function* conversations() {
    const pages = { filter: {}, by: '_id', after: '', limit: PAGE };
    for await (const page of readRowPages<ConversationRow>(rows, 'chat.conversations', pages))
      yield page
        .filter(({ user, conversation }) => participantsOf(conversation)?.[0] === user)
        .map(({ conversation: id, createdAt, lastMessageAt }) => ({
          id,
          participants: participantsOf(id) ?? [],
          createdAt,
          lastMessageAt,
        }));
  }

  async function* auditLog() {
    const pages = { filter: {}, by: 'at', after: 0n, limit: AUDIT_PAGE };
    for await (const page of readRowPages<AuditRow>(rows, 'chat.audit', pages))
      yield await Promise.all(page.map((each) => entryOf(vault, each)));
  }
}

async function* singlePage(items: readonly object[]): AsyncGenerator<readonly object[]> {
  yield items;
}
