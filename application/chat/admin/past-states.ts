/** Past states of messages, channels and users. */
import { type ChatEvent, catalog } from '../../../domain/chat/catalog.js';
import { CHANNELS, type ChannelsEvent, type ChannelsState, channels } from '../../../domain/chat/channels.js';
import { participantsOf } from '../../../domain/chat/events/channels.js';
import { isMessageId, parentOf } from '../../../domain/chat/events/messages.js';
import { type MessageEvent, type MessageState, message, messageStream } from '../../../domain/chat/message.js';
import { reactionsOf } from '../../../domain/chat/reactions.js';
import { ROSTER, type RosterEvent, type RosterState, roster } from '../../../domain/chat/roster.js';
import { evolveOf } from '../../../domain/shared/index.js';
import { isoTime, type ThingKind } from '../../audit/index.js';

const timeOrNull = (at: number | null | undefined) => (at === null || at === undefined ? null : isoTime(at));

interface PastMessage {
  readonly message: MessageState;
  /** Number of edits. */
  readonly edits: number;
  readonly deletion?: ChatEvent<'MessageDeleted'>['data'];
}

const evolveMessage = evolveOf(message);

/** A message or reply. Direct messages are visible to their participants only, as in the API. */
const messages: ThingKind<PastMessage> = {
  name: 'message',
  catalog,
  initialState: { message: message.initialState, edits: 0 },
  streamOf: (id) => (isMessageId(id) ? messageStream(id) : undefined),
  erasedBy: 'MessageDeleted',
  isVisibleTo: (viewer, { channelId }) => participantsOf(String(channelId))?.includes(viewer) ?? true,
  evolve: ({ message, edits }, event: MessageEvent) => ({
    message: evolveMessage(message, event),
    edits: event.type === 'MessageEdited' ? edits + 1 : edits,
    ...(event.type === 'MessageDeleted' && { deletion: event.data }),
  }),
  view({ message, edits, deletion }, { id, secret }) {
    if (deletion) {
      const { channelId, author, by, deletedAt } = deletion;
      return { id, channelId, author, deletedAt: isoTime(deletedAt), deletedBy: by };
    }
    const { channelId, author, createdAt, updatedAt, pinnedAt, quotedMessageId, body, reactions } = message;
    const { content, attachments, images, mentions, botName } = body;
    return {
      id,
      ...(parentOf(id) !== undefined && { threadId: parentOf(id) }),
      channelId,
      author,
      ...(botName !== undefined && { botName: secret(botName) }),
      content: secret(content),
      attachments: secret(attachments),
      images: secret(images),
      mentions: secret(mentions),
      quotedMessageId,
      reactions: secret(reactionsOf(reactions)),
      createdAt: isoTime(createdAt),
      updatedAt: timeOrNull(updatedAt),
      edits,
      pinnedAt: timeOrNull(pinnedAt),
    };
  },
};

interface PastChannel {
  readonly channels: ChannelsState;
  readonly deletion?: ChatEvent<'ChannelDeleted'>['data'];
}

const evolveChannels = evolveOf(channels);

const pastChannels: ThingKind<PastChannel> = {
  name: 'channel',
  catalog,
  initialState: { channels: channels.initialState },
  streamOf: (id) => (id === '' ? undefined : CHANNELS),
  isAbout: (id, { channelId }) => channelId === id,
  evolve: ({ channels, deletion }, event: ChannelsEvent) => ({
    channels: evolveChannels(channels, event),
    ...(deletion && { deletion }),
    ...(event.type === 'ChannelDeleted' && { deletion: event.data }),
  }),
  view({ channels, deletion }, { id, secret }) {
    if (deletion) return { id, deletedAt: isoTime(deletion.deletedAt), deletedBy: deletion.by };
    const channel = channels.channels.get(id);
    if (!channel) return undefined;
    const { name, topic, isPrivate, createdBy, members, createdAt, updatedAt } = channel;
    return {
      id,
      name: secret(name),
      topic: secret(topic),
      isPrivate,
      createdBy,
      members,
      createdAt: isoTime(createdAt),
      updatedAt: timeOrNull(updatedAt),
    };
  },
};

const users: ThingKind<RosterState> = {
  name: 'user',
  catalog,
  initialState: roster.initialState,
  streamOf: (id) => (id === '' ? undefined : ROSTER),
  isAbout: (id, { userId }) => userId === id,
  evolve: evolveOf<RosterState, RosterEvent>(roster),
  view({ users }, { id, secret }) {
    const user = users.get(id);
    if (!user) return undefined;
    const { userName, email, isAdmin, isRemoved, createdAt } = user;
    return {
      id,
      userName: secret(userName),
      email: secret(email),
      isAdmin,
      isRemoved,
      createdAt: isoTime(createdAt),
    };
  },
};

export const chatThings: readonly ThingKind[] = [messages, pastChannels, users];
