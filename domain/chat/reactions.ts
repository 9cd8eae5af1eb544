/** Reactions to a message, by reaction and user. */

import { PersistentMap } from '../shared/index.js';
import type { Reactions } from './events/messages.js';
import { addCount, type Counts, countOf, noCounts } from './limits.js';
import { atMost } from './rejections.js';

/** Reactions above which events leave them out; each event holds the whole message. */
const MAX_EVENT_REACTIONS = 1000;

export const MAX_REACTIONS = 50;
/** Reactions ever added per user and message, including removed ones: all events are read with the message. */
export const MAX_REACTIONS_EVER = 1000;

interface ReactionUsers {
  readonly sign: number;
  readonly by: readonly { readonly userId: string; readonly place: number }[];
}

export interface ReactionState {
  readonly byReaction: PersistentMap<ReactionUsers>;
  readonly byUser: Counts;
  readonly everByUser: Counts;
  /** Reactions ever added, and distinct ones. */
  readonly places: number;
  readonly signs: number;
  readonly count: number;
}

export const noReactions: ReactionState = {
  byReaction: PersistentMap.empty(),
  byUser: noCounts,
  everByUser: noCounts,
  places: 0,
  signs: 0,
  count: 0,
};

interface ReactionPlace {
  readonly userId: string;
  readonly place: number;
  readonly sign: number;
}

export function findReaction(
  { byReaction }: ReactionState,
  reaction: string,
  userId: string,
): ReactionPlace | undefined {
  const found = byReaction.get(reaction);
  const own = found?.by.find((each) => each.userId === userId);
  return found && own && { ...own, sign: found.sign };
}

export const tooManyReactions = atMost(
  'chat/too-many-reactions',
  `${MAX_REACTIONS} reactions per user and message, ${MAX_REACTIONS_EVER} including removed ones`,
);

export const reactionLimitReached = ({ byUser, everByUser }: ReactionState, userId: string): boolean =>
  countOf(byUser, userId) >= MAX_REACTIONS || countOf(everByUser, userId) >= MAX_REACTIONS_EVER;

export const newReactionPlace = (
  { byReaction, places, signs }: ReactionState,
  reaction: string,
  userId: string,
): ReactionPlace => ({
  userId,
  place: places,
  sign: byReaction.get(reaction)?.sign ?? signs,
});

export function withReaction(
  state: ReactionState,
  reaction: string,
  { userId, place, sign }: ReactionPlace,
): ReactionState {
  const by = [...(state.byReaction.get(reaction)?.by ?? []), { userId, place }];
  return {
    byUser: addCount(state.byUser, userId),
    everByUser: addCount(state.everByUser, userId),
    byReaction: state.byReaction.set(reaction, { sign, by }),
    places: Math.max(state.places, place + 1),
    signs: Math.max(state.signs, sign + 1),
    count: state.count + 1,
  };
}

/** A reaction without users keeps its sequence number. */
export function withoutReaction(
  state: ReactionState,
  reaction: string,
  { place }: Pick<ReactionPlace, 'place'>,
): ReactionState {
  const found = state.byReaction.get(reaction);
  const removed = found?.by.find((each) => each.place === place);
  if (!found || !removed) return state;
  const by = found.by.filter((each) => each !== removed);
  return {
    ...state,
    byReaction: state.byReaction.set(reaction, { ...found, by }),
    byUser: addCount(state.byUser, removed.userId, -1),
    count: state.count - 1,
  };
}

/** Current reactions with their users, in order. */
export function reactionsOf({ byReaction }: ReactionState): Reactions {
  const present = [...byReaction].filter(([, { by }]) => by.length > 0);
  present.sort(([, a], [, b]) => a.sign - b.sign);
  return Object.fromEntries(present.map(([reaction, { by }]) => [reaction, by.map(({ userId }) => userId)]));
}

/** Null when there are too many to include in events. */
export const eventReactions = (state: ReactionState): Reactions | null =>
  state.count > MAX_EVENT_REACTIONS ? null : reactionsOf(state);
