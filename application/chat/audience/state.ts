/** Audience state: users and channels, folded from the log; and its snapshot for the next start of a node. */
import { CHANNELS, type Channel, type ChannelsState, channels, withChannel } from '../../../domain/chat/channels.js';
import { channelSubject } from '../../../domain/chat/events/channels.js';
import { NOBODY, userSubject } from '../../../domain/chat/events/roster.js';
import { ROSTER, type RosterState, roster, type User, withUser } from '../../../domain/chat/roster.js';
import type { Webhook } from '../../../domain/chat/webhooks.js';
import {
  applyCursorPart,
  type CommandsPart,
  type CursorPart,
  initialCursors,
  type SealedPart,
  type SnapshotFormat,
  type StreamCursors,
  serialize,
} from '../../subscription/index.js';

export interface ChatState {
  readonly roster: RosterState;
  /** Ids of admins, sorted; they see every channel. */
  readonly admins: readonly string[];
  readonly channels: ChannelsState;
  readonly reached: StreamCursors;
}

export const initialState: ChatState = {
  roster: roster.initialState,
  admins: [],
  channels: channels.initialState,
  reached: initialCursors([ROSTER, CHANNELS]),
};

export const EVERYBODY = 'everybody';
export const userKey = (userId: string): string => `user:${userId}`;
export const sessionKey = (sessionId: string): string => `session:${sessionId}`;

interface Split<Kind extends string, Whole, Names extends keyof Whole> extends SealedPart {
  readonly is: Kind;
  readonly plain: Omit<Whole, Names>;
  readonly secret?: Pick<Whole, Names> | undefined;
}

type Part =
  | Split<'user', User, 'email' | 'userName'>
  | Split<'channel', Channel, 'name' | 'topic'>
  | Split<'webhook', Webhook, 'name'>
  | { readonly is: 'ending'; readonly channelId: string }
  | { readonly is: 'made'; readonly made: number }
  | { readonly is: 'reached'; readonly reached: CursorPart | CommandsPart };

function* parts({ roster, channels, reached }: ChatState): Generator<Part> {
  for (const each of serialize(reached)) yield { is: 'reached', reached: each };
  for (const { email, userName, ...plain } of roster.users.values())
    yield { is: 'user', plain, subject: userSubject({ userId: plain.id }), secret: { email, userName } };
  yield { is: 'made', made: channels.made };
  for (const { name, topic, ...plain } of channels.channels.values())
    yield { is: 'channel', plain, subject: channelSubject({ channelId: plain.id }), secret: { name, topic } };
  for (const [channelId] of channels.ending) yield { is: 'ending', channelId };
  for (const { name, ...plain } of channels.webhooks.values())
    yield { is: 'webhook', plain, subject: channelSubject(plain), secret: { name } };
}

/** Adds a part to the state; erased names get the same defaults as in the log. */
function withPart(state: ChatState, part: Part): ChatState {
  const { roster, admins, channels } = state;
  switch (part.is) {
    case 'reached':
      return { ...state, reached: applyCursorPart(state.reached, part.reached) };
    case 'user': {
      const user = { email: '', userName: NOBODY, ...part.plain, ...part.secret };
      const known = withUser(roster, user);
      return { ...state, roster: known, admins: user.isAdmin ? [...admins, user.id].sort() : admins };
    }
    case 'made':
      return { ...state, channels: { ...channels, made: part.made } };
    case 'channel':
      return {
        ...state,
        channels: withChannel(channels, { name: '', topic: '', ...part.plain, ...part.secret }),
      };
    case 'ending':
      return { ...state, channels: { ...channels, ending: channels.ending.set(part.channelId, true) } };
    case 'webhook': {
      const webhook = { name: '', ...part.plain, ...part.secret };
      return { ...state, channels: { ...channels, webhooks: channels.webhooks.set(webhook.id, webhook) } };
    }
  }
}

/** Personal data and names are sealed under their keys. */
export const snapshot: SnapshotFormat<ChatState> = {
  version: 3,
  parts,
  from: (parts: readonly Part[]) => parts.reduce(withPart, initialState),
};
