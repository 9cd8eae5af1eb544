/** Audience state: users and channels, folded from the log. */
import { CHANNELS, type ChannelsState, channels } from '../../../domain/chat/channels.js';
import { ROSTER, type RosterState, roster } from '../../../domain/chat/roster.js';
import { initialCursors, type StreamCursors } from '../../subscription/index.js';

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
