/** Where something is said, and whether the caller may see it: by the log's state, never by a row. */
import {
  CHANNELS,
  type Channel,
  type ChannelsState,
  channelFor,
  channelNotFound,
} from '../../../domain/chat/channels.js';
import { conversationNotFound } from '../../../domain/chat/conversation.js';
import { conversationSubject, isDirect, participantsOf } from '../../../domain/chat/conversation-id.js';
import { type MessageState, messageNotFound, messageStream } from '../../../domain/chat/message.js';
import type { Rejection } from '../../../domain/shared/index.js';
import type { AggregateStore, LoadedAggregate } from '../../command/index.js';
import type { EventLog, Position } from '../../ports/index.js';
import { channelsAggregate, conversationAggregate, messageAggregate } from '../aggregates.js';
import type { Authentication, Caller } from '../sign-in/authenticate.js';
import { createMessagePlace, type MessageLocation } from './message-location.js';

export interface PlacePorts {
  readonly admission: Authentication;
  readonly streams: AggregateStore;
  readonly log: Pick<EventLog, 'read'>;
}

/** A conversation as one of the two sees it. */
export interface Conversation {
  readonly id: string;
  readonly participants: readonly [string, string];
  readonly createdAt: number;
}

export type Visibility = ReturnType<typeof createVisibility>;

const REPLY_ID = /^([\w-]{22})\.[\w-]{22}$/;

/** Whether a message could be called so. */
export const isMessageId = (text: string): boolean => /^[\w-]{22}$/.test(text);

/** The message whose thread a reply of this id would be in. */
export const parentOf = (replyId: string): string | undefined => REPLY_ID.exec(replyId)?.[1];

/** A reply's id says whose thread it is in, so that the log can be asked about it. */
export const replyIdIn = (messageId: string, own: string): string => `${messageId}.${own}`;

export function createVisibility({ admission, streams, log }: PlacePorts) {
  const messagePlace = createMessagePlace({ admission, streams, log });

  const channels = (seen?: Position): Promise<LoadedAggregate<ChannelsState>> =>
    admission.load(channelsAggregate, CHANNELS, seen);

  /** Another node may have made it, or let the caller in, a moment ago. */
  async function channel(by: Caller, channelId: string, seen?: Position): Promise<Channel | Rejection> {
    const found = channelFor((await channels(seen)).state, channelId, by);
    if (found) return found;
    const { state } = await streams.reload(channelsAggregate, CHANNELS);
    return channelFor(state, channelId, by) ?? channelNotFound;
  }

  /** For the two, once one of them has begun it. */
  async function conversation({ userId }: Caller, id: string, seen?: Position): Promise<Conversation | Rejection> {
    const participants = participantsOf(id);
    if (!participants?.includes(userId)) return conversationNotFound;
    const { state } = await admission.load(conversationAggregate, conversationSubject(id), seen);
    const { startedAt: createdAt } = state;
    return createdAt === undefined ? conversationNotFound : { id, participants, createdAt };
  }

  /** A message that is there, where the caller may see it. */
  async function message(
    by: Caller,
    messageId: string,
    seen?: Position,
  ): Promise<LoadedAggregate<MessageState> | Rejection> {
    const loaded = await findAny(messageId, seen);
    if ('rejected' in loaded) return loaded;
    return (await canSee(by, loaded.state.channelId, seen)) ? loaded : messageNotFound;
  }

  /** Whether the caller sees what is said in a channel or conversation. */
  async function canSee(by: Caller, id: string, seen?: Position): Promise<boolean> {
    const place = isDirect(id) ? conversation(by, id, seen) : channel(by, id, seen);
    return !('rejected' in (await place));
  }

  /** A message that is there, whoever may see it. */
  async function findAny(messageId: string, seen?: Position): Promise<LoadedAggregate<MessageState> | Rejection> {
    if (!isMessageId(messageId)) return messageNotFound;
    const loaded = await admission.load(messageAggregate, messageStream(messageId), seen);
    return loaded.state.status === 'there' && !loaded.deleted ? loaded : messageNotFound;
  }

  /** Where a message is, whoever may see it: the same without what it says, and what else has happened to it. */
  const locateAny = async (messageId: string, seen?: Position): Promise<MessageLocation | Rejection> =>
    isMessageId(messageId) ? messagePlace(messageId, seen) : messageNotFound;

  /** The same where the caller may see it. */
  async function locate(by: Caller, messageId: string, seen?: Position): Promise<MessageLocation | Rejection> {
    const found = await locateAny(messageId, seen);
    if ('rejected' in found) return found;
    return (await canSee(by, found.channelId, seen)) ? found : messageNotFound;
  }

  return { channels, channel, conversation, canSee, message, findAny, locate, locateAny };
}
