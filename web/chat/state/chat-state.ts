/** State of the page that comes from the service: people, places, and loaded parts of their messages. */
import type { Channel, Conversation, Message, PresenceEntry, User } from '../contract.js';
import type { Timeline } from './timeline.js';

export type ById<Item> = ReadonlyMap<string, Item>;

export interface ChatState {
  readonly serverName: string;
  readonly users: ById<User>;
  readonly channels: ById<Channel>;
  readonly conversations: ById<Conversation>;
  readonly presence: ById<PresenceEntry>;
  /** By id of the channel, conversation, or parent message of a thread. */
  readonly timelines: ById<Timeline>;
  /** Pinned messages of channels where they were loaded, newest pin first. */
  readonly pins: ById<readonly Message[]>;
}

export const initialState: ChatState = {
  serverName: '',
  users: new Map(),
  channels: new Map(),
  conversations: new Map(),
  presence: new Map(),
  timelines: new Map(),
  pins: new Map(),
};

export function put<Item>(map: ById<Item>, id: string, item: Item): ById<Item> {
  return map.get(id) === item ? map : new Map(map).set(id, item);
}

export function drop<Item>(map: ById<Item>, id: string): ById<Item> {
  if (!map.has(id)) return map;
  const rest = new Map(map);
  rest.delete(id);
  return rest;
}

export const byId = <Item extends { readonly id: string }>(items: readonly Item[]): ById<Item> =>
  new Map(items.map((item) => [item.id, item]));

/** Applies a change to a timeline if it is loaded. */
export function onTimeline(state: ChatState, key: string, update: (timeline: Timeline) => Timeline): ChatState {
  const timeline = state.timelines.get(key);
  if (!timeline) return state;
  const updated = update(timeline);
  return updated === timeline ? state : { ...state, timelines: put(state.timelines, key, updated) };
}

/** Sets a timeline, loaded or not. */
export const withTimeline = (state: ChatState, key: string, timeline: Timeline): ChatState => ({
  ...state,
  timelines: put(state.timelines, key, timeline),
});

/** Conversation ids begin with `dm:`. */
export const isDirect = (placeId: string): boolean => placeId.startsWith('dm:');

/** Name of a user as it is now, or as it was on the message when the user has been removed. */
export const nameOf = (users: ById<User>, author: { readonly id: string; readonly userName: string }): string =>
  users.get(author.id)?.userName ?? author.userName;

/** Channels by name. */
export const sortedChannels = (channels: ById<Channel>): readonly Channel[] =>
  [...channels.values()].sort((a, b) => a.name.localeCompare(b.name));

/** Conversations, last active first. */
export const sortedConversations = (conversations: ById<Conversation>): readonly Conversation[] =>
  [...conversations.values()].sort((a, b) => (b.lastMessageAt ?? b.createdAt) - (a.lastMessageAt ?? a.createdAt));
