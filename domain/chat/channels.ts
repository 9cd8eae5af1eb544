/** Which channels there are, what they are called, who may see each, and their webhooks. Stream `chat.channels-main`. */
import { type Decider, type Evolve, isVisible, notBefore, PersistentMap, type Rejection } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';
import { badName, badTopic, CHANNEL_NAME_LENGTH, nameTaken, notYours, TOPIC_LENGTH } from './channel-rejections.js';
import { counted, isTooCrowded, type MembershipCount, nobody, tooCrowded } from './membership-limit.js';
import { nameKey } from './names.js';
import {
  createWebhook,
  deleteWebhook,
  evolveWebhooks,
  noWebhooks,
  type WebhookCommand,
  type Webhooks,
  withoutChannel,
} from './webhooks.js';

export interface Channel {
  readonly id: string;
  /** Counted in the order in which channels were made. */
  readonly number: number;
  readonly name: string;
  readonly topic: string;
  readonly isPrivate: boolean;
  readonly createdBy: string;
  readonly members: readonly string[];
  readonly createdAt: number;
  readonly updatedAt?: number;
}

export interface ChannelsState {
  /** How many there ever were. */
  readonly made: number;
  readonly channels: PersistentMap<Channel>;
  /** Ids by names, without regard to their case. */
  readonly names: PersistentMap<string>;
  /** Those that are deleted, and whose messages are not all gone yet. */
  readonly ending: PersistentMap<true>;
  /** Of how many members all channels are. */
  readonly crowd: MembershipCount;
  readonly webhooks: Webhooks;
}

/** Who asks, and whether as an admin. */
export interface Requester {
  readonly userId: string;
  readonly isAdmin: boolean;
}

export type ChannelsCommand =
  | {
      type: 'CreateChannel';
      channelId: string;
      by: string;
      /** Bounded then by all channels alone, and not by how many of them are theirs. */
      asAdmin?: boolean;
      name: string;
      topic?: string | undefined;
      isPrivate: boolean;
      /** Of users who are there. */
      members: readonly string[];
      now: number;
      /** Only where there never was a channel. */
      first?: true;
    }
  | {
      type: 'UpdateChannel';
      channelId: string;
      by: Requester;
      name?: string | undefined;
      topic?: string | undefined;
      isPrivate?: boolean | undefined;
      /** The new list, of users who are there. */
      members?: readonly string[] | undefined;
      now: number;
    }
  | { type: 'DeleteChannel'; channelId: string; by: Requester; now: number }
  | { type: 'EraseChannel'; channelId: string; now: number }
  | WebhookCommand;

type Command<Type extends ChannelsCommand['type']> = Extract<ChannelsCommand, { type: Type }>;

export type ChannelsEvent = ChatEvent<
  'ChannelCreated' | 'ChannelUpdated' | 'ChannelDeleted' | 'ChannelErased' | 'WebhookCreated' | 'WebhookDeleted'
>;

export const CHANNELS = 'chat.channels-main';

const initialState: ChannelsState = {
  made: 0,
  channels: PersistentMap.empty(),
  names: PersistentMap.empty(),
  ending: PersistentMap.empty(),
  crowd: nobody,
  webhooks: noWebhooks,
};

export const channelNotFound: Rejection = {
  rejected: 'chat/channel-not-found',
  kind: 'not-found',
  detail: 'Channel not found',
};
/** Admins see all; a private one is told to its members, and to nobody else that it is there. */
export const maySee = (
  { isPrivate, members }: Pick<Channel, 'isPrivate' | 'members'>,
  { userId, isAdmin }: Requester,
): boolean => !isPrivate || isAdmin || members.includes(userId);

/** A channel, for somebody who may see it. */
export function channelFor({ channels }: ChannelsState, channelId: string, by: Requester): Channel | undefined {
  const channel = channels.get(channelId);
  return channel && maySee(channel, by) ? channel : undefined;
}

/** All that somebody may see, in the order in which they were made. */
export const channelsFor = ({ channels }: ChannelsState, by: Requester): Channel[] =>
  [...channels.values()].filter((each) => maySee(each, by)).sort((a, b) => a.number - b.number);

const lengthOf = (text: string): number => [...text].length;

function decide(command: ChannelsCommand, state: ChannelsState): readonly ChannelsEvent[] | Rejection {
  switch (command.type) {
    case 'CreateChannel':
      return create(command, state);
    case 'UpdateChannel':
      return update(command, state);
    case 'DeleteChannel':
      return remove(command, state);
    case 'EraseChannel':
      return erase(command, state);
    case 'CreateWebhook':
      return state.channels.has(command.channelId) ? createWebhook(command) : channelNotFound;
    case 'DeleteWebhook':
      return deleteWebhook(command, state.webhooks);
  }
}

/** A name as it is kept, and whether it may be: `own` is the channel that has it now. */
function named({ names }: ChannelsState, wanted: string, own?: string): { name: string } | Rejection {
  const name = wanted.normalize('NFC').trim();
  if (!isVisible(name) || lengthOf(name) > CHANNEL_NAME_LENGTH) return badName;
  const holder = names.get(nameKey(name));
  return holder !== undefined && holder !== own ? nameTaken : { name };
}

function create(command: Command<'CreateChannel'>, state: ChannelsState): readonly ChannelsEvent[] | Rejection {
  const { channelId, by, asAdmin = false, topic = '', isPrivate, now, first } = command;
  if (first && state.made > 0) return [];
  const found = named(state, command.name);
  if ('rejected' in found) return found;
  if (lengthOf(topic) > TOPIC_LENGTH) return badTopic;
  const members = [...new Set([by, ...command.members])];
  if (isTooCrowded(state.crowd, undefined, { createdBy: by, members }, asAdmin)) return tooCrowded;
  const data = {
    channelId,
    createdBy: by,
    createdAt: now,
    isPrivate,
    members,
    secret: { name: found.name, ...(topic && { topic }) },
  };
  return [{ type: 'ChannelCreated', data }];
}

/** The channel, for who may change it. */
function changeable(state: ChannelsState, channelId: string, by: Requester): Channel | Rejection {
  const channel = channelFor(state, channelId, by);
  if (!channel) return channelNotFound;
  return by.isAdmin || channel.createdBy === by.userId ? channel : notYours;
}

function update(command: Command<'UpdateChannel'>, state: ChannelsState): readonly ChannelsEvent[] | Rejection {
  const { channelId, by, now } = command;
  const channel = changeable(state, channelId, by);
  if ('rejected' in channel) return channel;
  const { name = channel.name, topic = channel.topic, isPrivate = channel.isPrivate } = command;
  // What it is called already it stays, though that may count as another's by now.
  const found = name === channel.name ? { name } : named(state, name, channelId);
  if ('rejected' in found) return found;
  if (lengthOf(topic) > TOPIC_LENGTH) return badTopic;
  const wanted = new Set([channel.createdBy, ...(command.members ?? channel.members)]);
  const then = { createdBy: channel.createdBy, members: [...wanted] };
  if (isTooCrowded(state.crowd, channel, then, by.isAdmin)) return tooCrowded;
  const members = new Set(channel.members);
  const joined = [...wanted].filter((each) => !members.has(each));
  const left = channel.members.filter((each) => !wanted.has(each));
  const secret = {
    ...(found.name !== channel.name && { name: found.name }),
    ...(topic !== channel.topic && { topic }),
  };
  const kind = isPrivate === channel.isPrivate ? {} : { isPrivate };
  if (joined.length + left.length + Object.keys({ ...secret, ...kind }).length === 0) return [];
  const updatedAt = notBefore(now, channel.createdAt, channel.updatedAt);
  const data = { channelId, by: by.userId, updatedAt, joined, left, ...kind, secret };
  return [{ type: 'ChannelUpdated', data }];
}

function remove(
  { channelId, by, now }: Command<'DeleteChannel'>,
  state: ChannelsState,
): readonly ChannelsEvent[] | Rejection {
  const channel = changeable(state, channelId, by);
  if ('rejected' in channel) return channel;
  return [{ type: 'ChannelDeleted', data: { channelId, by: by.userId, deletedAt: now } }];
}

const erase = ({ channelId, now }: Command<'EraseChannel'>, { ending }: ChannelsState): ChannelsEvent[] =>
  ending.has(channelId) ? [{ type: 'ChannelErased', data: { channelId, erasedAt: now } }] : [];

/** What is erased has no name that anybody could take, or give back; who had one first has it. */
const taken = (names: PersistentMap<string>, name: string, id: string) =>
  name === '' || names.has(nameKey(name)) ? names : names.set(nameKey(name), id);
const freed = (names: PersistentMap<string>, name: string, id: string) =>
  names.get(nameKey(name)) === id ? names.delete(nameKey(name)) : names;

/** With a channel more, or with another state of one. */
export const withChannel = (state: ChannelsState, channel: Channel): ChannelsState => ({
  ...state,
  channels: state.channels.set(channel.id, channel),
  names: taken(state.names, channel.name, channel.id),
  crowd: counted(state.crowd, state.channels.get(channel.id), channel),
});

const evolve: Evolve<ChannelsState, ChannelsEvent> = {
  ChannelCreated(state, { channelId: id, createdBy, createdAt, isPrivate, members, secret }) {
    const { name, topic = '' } = secret as { name: string; topic?: string };
    const number = state.made;
    const channel = { id, number, name, topic, isPrivate, createdBy, members, createdAt };
    return { ...withChannel(state, channel), made: number + 1 };
  },
  ChannelUpdated(state, { channelId: id, updatedAt, isPrivate, joined, left, secret }) {
    const channel = state.channels.get(id);
    if (!channel) return state;
    const { name, topic } = secret as { name?: string; topic?: string };
    const gone = new Set(left);
    const members = [...channel.members.filter((each) => !gone.has(each)), ...joined];
    const changed = {
      ...channel,
      updatedAt,
      members: joined.length + left.length > 0 ? members : channel.members,
      ...(isPrivate !== undefined && { isPrivate }),
      ...(name !== undefined && { name }),
      ...(topic !== undefined && { topic }),
    };
    return withChannel({ ...state, names: freed(state.names, channel.name, id) }, changed);
  },
  ChannelDeleted(state, { channelId: id }) {
    const channel = state.channels.get(id);
    if (!channel) return state;
    return {
      ...state,
      channels: state.channels.delete(id),
      names: freed(state.names, channel.name, id),
      ending: state.ending.set(id, true),
      crowd: counted(state.crowd, channel, undefined),
      webhooks: withoutChannel(state.webhooks, id),
    };
  },
  ChannelErased: (state, { channelId }) => ({ ...state, ending: state.ending.delete(channelId) }),
  WebhookCreated: (state, data) => ({
    ...state,
    webhooks: evolveWebhooks.WebhookCreated(state.webhooks, data),
  }),
  WebhookDeleted: (state, data) => ({
    ...state,
    webhooks: evolveWebhooks.WebhookDeleted(state.webhooks, data),
  }),
};

export const channels: Decider<ChannelsState, ChannelsCommand, ChannelsEvent> = {
  initialState,
  decide,
  evolve,
};
