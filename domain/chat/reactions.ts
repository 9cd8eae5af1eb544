/** Reactions to a message, by user and reaction. */

import { PersistentMap } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';
import type { Reactions } from './events/messages.js';
import { addCount, atMost, type Counts, countOf, noCounts } from './limits.js';

/** Reactions above which events leave them out; each event holds the whole message. */
const MAX_EVENT_REACTIONS = 1000;

export const MAX_REACTIONS = 50;

type ReactionPlace = Pick<ChatEvent<'ReactionAdded'>['data'], 'userId' | 'place' | 'sign'>;

export interface ReactionState {
  readonly present: PersistentMap<ReactionPlace>;
  readonly byUser: Counts;
  /** Sequence numbers of all distinct reactions ever added. */
  readonly signs: PersistentMap<number>;
  /** Number of reactions ever added. */
  readonly places: number;
}

export const noReactions: ReactionState = {
  present: PersistentMap.empty(),
  byUser: noCounts,
  signs: PersistentMap.empty(),
  places: 0,
};

const keyOf = (userId: string, reaction: string): string => `${userId} ${reaction}`;

export const findReaction = ({ present }: ReactionState, reaction: string, userId: string): ReactionPlace | undefined =>
  present.get(keyOf(userId, reaction));

export const tooManyReactions = atMost('chat/too-many-reactions', `${MAX_REACTIONS} reactions per user and message`);

export const reactionLimitReached = ({ byUser }: ReactionState, userId: string): boolean =>
  countOf(byUser, userId) >= MAX_REACTIONS;

export const newReactionPlace = (
  { signs, places }: ReactionState,
  reaction: string,
  userId: string,
): ReactionPlace => ({ userId, place: places, sign: signs.get(reaction) ?? signs.size });

export const withReaction = (
  { present, byUser, signs, places }: ReactionState,
  reaction: string,
  { userId, place, sign }: ReactionPlace,
): ReactionState => ({
  present: present.set(keyOf(userId, reaction), { userId, place, sign }),
  byUser: addCount(byUser, userId),
  signs: signs.set(reaction, sign),
  places: Math.max(places, place + 1),
});

/** A reaction without users keeps its sequence number. */
export function withoutReaction(state: ReactionState, reaction: string, userId: string): ReactionState {
  if (!findReaction(state, reaction, userId)) return state;
  return {
    ...state,
    present: state.present.delete(keyOf(userId, reaction)),
    byUser: addCount(state.byUser, userId, -1),
  };
}

/** Current reactions with their users, in order. */
export function reactionsOf({ present }: ReactionState): Reactions {
  const ordered = [...present].sort(([, a], [, b]) => a.sign - b.sign || a.place - b.place);
  const users = new Map<string, string[]>();
  for (const [key, { userId }] of ordered) {
    const reaction = key.slice(userId.length + 1);
    const known = users.get(reaction);
    if (known) known.push(userId);
    else users.set(reaction, [userId]);
  }
  return Object.fromEntries(users);
}

/** Null when there are too many to include in events. */
export const eventReactions = (state: ReactionState): Reactions | null =>
  state.present.size > MAX_EVENT_REACTIONS ? null : reactionsOf(state);
