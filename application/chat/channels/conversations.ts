/** Use cases on direct conversations: start, list. */

import { catalog } from '../../../domain/chat/catalog.js';
import { conversationOf, conversationSubject, participantsOf } from '../../../domain/chat/events/channels.js';
import { type RosterState, unknownUser } from '../../../domain/chat/roster.js';
import { isRejection, rejection } from '../../../domain/shared/index.js';
import { createRequestRecord } from '../../command/index.js';
import { awaitConsistent, type PositionedRow, type WritePositions, withRows } from '../../consistency/index.js';
import type { CommandContext, Position } from '../../ports/index.js';
import { conversationAggregate } from '../aggregates.js';
import { authorView } from '../messages/message-view.js';
import type { Caller, ChatPorts } from '../sign-in/authenticate.js';

export function conversationView(
  roster: RosterState,
  reader: string,
  about: { readonly id: string; readonly createdAt: number; readonly lastMessageAt: number | null },
) {
  const { id, createdAt, lastMessageAt } = about;
  const participants = participantsOf(id) ?? [];
  const other = participants.find((each) => each !== reader) ?? reader;
  return { id, participants, createdAt, lastMessageAt, otherUser: authorView(roster, other) };
}

export interface ConversationPorts
  extends Pick<
    ChatPorts,
    'handle' | 'derivation' | 'clock' | 'log' | 'vault' | 'rows' | 'projectionProgress' | 'admission'
  > {
  readonly writePositions: WritePositions;
}

export interface ConversationRow extends PositionedRow {
  readonly user: string;
  readonly conversation: string;
  readonly createdAt: number;
  readonly lastMessageAt: number | null;
}

/** Most recent conversations listed per user. */
const MAX_CONVERSATIONS = 1000;

const withOneself = rejection(
  'chat/conversation-with-oneself',
  'invalid',
  'You cannot start a conversation with yourself',
);

export type Conversations = ReturnType<typeof createConversations>;

export function createConversations(ports: ConversationPorts) {
  const { handle, vault, clock, admission, rows, projectionProgress, writePositions } = ports;
  const recordRequest = createRequestRecord(catalog, ports);

  async function start({ userId }: Caller, targetUserId: string, context: CommandContext) {
    if (targetUserId === userId) return withOneself;
    if (!(await admission.user({ id: targetUserId }))) return unknownUser;
    const id = conversationOf(userId, targetUserId);
    const keyReused = await recordRequest(context);
    if (keyReused) return keyReused;
    const stream = conversationSubject(id);
    const command = { type: 'StartConversation' as const, conversationId: id, by: userId, now: clock.now() };
    const outcome = await handle(conversationAggregate, stream, command, context, () => vault.create(stream));
    if (isRejection(outcome)) return outcome;
    for (const each of [userId, targetUserId]) writePositions.note(conversationListKey(each), outcome.position);
    const { startedAt: createdAt = 0 } = await outcome.state();
    const isNew = outcome.events.length > 0;
    const lastMessageAt = isNew ? null : await findLastMessageAt(userId, id);
    const about = { id, createdAt, lastMessageAt };
    const conversation = conversationView((await admission.roster()).state, userId, about);
    return { body: { conversation, isNew }, position: outcome.position };
  }

  /** Newest activity first. */
  async function list({ userId }: Caller, seen?: Position) {
    const freshness = await awaitRows(userId, seen);
    const found = await rows.find<ConversationRow>('chat.conversations', {
      filter: { user: userId },
      sort: { active: -1 },
      limit: MAX_CONVERSATIONS,
    });
    const { state: roster } = await admission.roster(seen);
    const conversations = found.map(({ conversation: id, createdAt, lastMessageAt }) =>
      conversationView(roster, userId, { id, createdAt, lastMessageAt }),
    );
    return { body: { conversations }, ...withRows(freshness, found) };
  }

  const awaitRows = (userId: string, seenByCaller?: Position) =>
    awaitConsistent(projectionProgress, 'chat.conversations', {
      lastAppend: writePositions.latest(conversationListKey(userId)),
      seenByCaller,
    });

  async function findLastMessageAt(userId: string, id: string): Promise<number | null> {
    await awaitRows(userId);
    const filter = { _id: `${userId} ${id}` };
    const [row] = await rows.find<ConversationRow>('chat.conversations', { filter, limit: 1 });
    return row?.lastMessageAt ?? null;
  }

  return { start, list };
}

/** Key of a user's conversation list among the acknowledged positions of channels. */
export const conversationListKey = (userId: string): string => `conversations of ${userId}`;
