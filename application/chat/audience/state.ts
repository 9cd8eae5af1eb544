/** What the relay of the chat folds: all that says who is told what, and by what name. */
import { CHANNELS, type ChannelsState, channels } from '../../../domain/chat/channels.js';
import { ROSTER, type RosterState, roster } from '../../../domain/chat/roster.js';
import { initialCursors, type StreamCursors } from '../../subscription/index.js';

export interface ChatState {
  readonly roster: RosterState;
  /** Of the roster, sorted: they see every channel. */
  readonly admins: readonly string[];
  readonly channels: ChannelsState;
  /** How far the two are. */
  readonly reached: StreamCursors;
}

export const initialState: ChatState = {
  roster: roster.initialState,
  admins: [],
  channels: channels.initialState,
  reached: initialCursors([ROSTER, CHANNELS]),
};

/** The key of all streams. */
export const EVERYBODY = 'everybody';
/** The keys of one user's streams, and of those of one session. */
export const userKey = (userId: string): string => `user:${userId}`;
export const sessionKey = (sessionId: string): string => `session:${sessionId}`;
