/** Decides from the log's state, never from rows, which channels and messages a caller may see. */
import { CHANNELS, type Channel, channelFor, channelNotFound } from '../../../domain/chat/channels.js';
import { conversationNotFound } from '../../../domain/chat/conversation.js';
import { conversationSubject, isDirect, participantsOf } from '../../../domain/chat/events/channels.js';
import { isMessageId, parentOf } from '../../../domain/chat/events/messages.js';
import { type MessageState, messageNotFound, messageStream } from '../../../domain/chat/message.js';
import type { Rejection } from '../../../domain/shared/index.js';
import type { LoadedAggregate } from '../../command/index.js';
import type { Position } from '../../ports/index.js';
import { channelsAggregate, conversationAggregate, messageAggregate } from '../aggregates.js';
import type { Caller, ChatPorts } from '../sign-in/authenticate.js';

export type Visibility = ReturnType<typeof createVisibility>;

export function createVisibility({ admission }: Pick<ChatPorts, 'admission'>) {
  const channel = async (by: Caller, channelId: string, seen?: Position): Promise<Channel | Rejection> =>
    (await admission.find(channelsAggregate, CHANNELS, seen, (state) => channelFor(state, channelId, by))) ??
    channelNotFound;

  /** Visible to its two participants once it has been started. */
  async function conversation(
    { userId }: Caller,
    id: string,
    seen?: Position,
  ): Promise<{ readonly id: string } | Rejection> {
    if (!participantsOf(id)?.includes(userId)) return conversationNotFound;
    const { state } = await admission.load(conversationAggregate, conversationSubject(id), seen);
    return state.startedAt === undefined ? conversationNotFound : { id };
  }

  async function message(
    by: Caller,
    messageId: string,
    seen?: Position,
  ): Promise<LoadedAggregate<MessageState> | Rejection> {
    const loaded = await findAny(messageId, seen);
    if ('rejected' in loaded) return loaded;
    return (await canSee(by, loaded.state.channelId, seen)) ? loaded : messageNotFound;
  }

  async function canSee(by: Caller, id: string, seen?: Position): Promise<boolean> {
    const place = isDirect(id) ? conversation(by, id, seen) : channel(by, id, seen);
    return !('rejected' in (await place));
  }

  /** An existing message or reply, without checking access. A reply exists as long as its message does. */
  async function findAny(messageId: string, seen?: Position): Promise<LoadedAggregate<MessageState> | Rejection> {
    if (!isMessageId(messageId)) return messageNotFound;
    const loaded = await admission.load(messageAggregate, messageStream(messageId), seen);
    if (loaded.state.status !== 'active' || loaded.deleted) return messageNotFound;
    const parent = parentOf(messageId);
    return parent !== undefined && 'rejected' in (await findAny(parent, seen)) ? messageNotFound : loaded;
  }

  return { channel, conversation, canSee, message, findAny };
}
