/** Decides from the log's state, never from rows, which channels and messages a caller may see. */
import {
  CHANNELS,
  type Channel,
  type ChannelsState,
  channelFor,
  channelNotFound,
} from '../../../domain/chat/channels.js';
import { conversationNotFound } from '../../../domain/chat/conversation.js';
import { conversationSubject, isDirect, participantsOf } from '../../../domain/chat/events/channels.js';
import { type MessageEvent, type MessageState, messageNotFound, messageStream } from '../../../domain/chat/message.js';
import type { Rejection } from '../../../domain/shared/index.js';
import { type AggregateStore, isEvent, type LoadedAggregate } from '../../command/index.js';
import type { EventLog, Position } from '../../ports/index.js';
import { channelsAggregate, conversationAggregate, messageAggregate } from '../aggregates.js';
import type { Authentication, Caller } from '../sign-in/authenticate.js';

export interface VisibilityPorts {
  readonly admission: Authentication;
  readonly aggregates: AggregateStore;
  readonly log: Pick<EventLog, 'read'>;
}

export interface MessageLocation {
  readonly channelId: string;
  /** Position of the message's last known event. */
  readonly position: Position;
}

/** Revisions up to which a message is loaded whole and cached. */
const MAX_FULL_READ = 200;

type Posted = Extract<MessageEvent, { type: 'MessagePosted' }>;

export interface Conversation {
  readonly id: string;
  readonly participants: readonly [string, string];
  readonly createdAt: number;
}

export type Visibility = ReturnType<typeof createVisibility>;

const REPLY_ID = /^([\w-]{22})\.[\w-]{22}$/;

export const isMessageId = (text: string): boolean => /^[\w-]{22}$/.test(text);

export const parentOf = (replyId: string): string | undefined => REPLY_ID.exec(replyId)?.[1];

/** A reply's id contains its message's id, so its stream is known without a lookup. */
export const replyIdIn = (messageId: string, own: string): string => `${messageId}.${own}`;

export function createVisibility({ admission, aggregates, log }: VisibilityPorts) {
  const channels = (seen?: Position): Promise<LoadedAggregate<ChannelsState>> =>
    admission.load(channelsAggregate, CHANNELS, seen);

  /** Another node may have created the channel, or added the caller, a moment ago: reloads before refusing. */
  async function channel(by: Caller, channelId: string, seen?: Position): Promise<Channel | Rejection> {
    const found = channelFor((await channels(seen)).state, channelId, by);
    if (found) return found;
    const { state } = await aggregates.reload(channelsAggregate, CHANNELS);
    return channelFor(state, channelId, by) ?? channelNotFound;
  }

  /** Visible to its two participants once it has been started. */
  async function conversation({ userId }: Caller, id: string, seen?: Position): Promise<Conversation | Rejection> {
    const participants = participantsOf(id);
    if (!participants?.includes(userId)) return conversationNotFound;
    const { state } = await admission.load(conversationAggregate, conversationSubject(id), seen);
    const { startedAt: createdAt } = state;
    return createdAt === undefined ? conversationNotFound : { id, participants, createdAt };
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

  /** An existing message, without checking access. */
  async function findAny(messageId: string, seen?: Position): Promise<LoadedAggregate<MessageState> | Rejection> {
    if (!isMessageId(messageId)) return messageNotFound;
    const loaded = await admission.load(messageAggregate, messageStream(messageId), seen);
    return loaded.state.status === 'active' && !loaded.deleted ? loaded : messageNotFound;
  }

  /**
   * Location of an existing message as of `seen` or later, without checking access. Of a long stream only the first event
   * (the post) and the last (perhaps the deletion) are read.
   */
  async function locateAny(messageId: string, seen?: Position): Promise<MessageLocation | Rejection> {
    if (!isMessageId(messageId)) return messageNotFound;
    const stream = messageStream(messageId);
    if (!aggregates.cached(messageAggregate, stream)) {
      const [newest] = await readOne(stream, { backwards: true });
      if (!newest || newest.type === 'MessageDeleted') return messageNotFound;
      if (newest.revision >= MAX_FULL_READ) {
        const [first] = await readOne(stream, { from: 0 });
        if (!first || !isEvent<Posted>('MessagePosted', first)) return messageNotFound;
        return { channelId: first.data.channelId, position: newest.position };
      }
    }
    const { state, position, deleted } = await admission.load(messageAggregate, stream, seen);
    return state.status === 'active' && !deleted ? { channelId: state.channelId, position } : messageNotFound;
  }

  async function readOne(stream: string, at: { readonly backwards: true } | { readonly from: number }) {
    const events = await log.read(stream, { ...at, limit: 1 });
    return typeof events === 'string' ? [] : events;
  }

  async function locate(by: Caller, messageId: string, seen?: Position): Promise<MessageLocation | Rejection> {
    const found = await locateAny(messageId, seen);
    if ('rejected' in found) return found;
    return (await canSee(by, found.channelId, seen)) ? found : messageNotFound;
  }

  return { channels, channel, conversation, canSee, message, findAny, locate, locateAny };
}
