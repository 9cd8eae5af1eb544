/** Reactions to a message: which there are, and who reacted so. */
import { PersistentMap } from '../shared/index.js';
import type { Reactions } from './events/messages.js';

/** A whole message is told with no more reactions than this, since each further one would make it larger. */
const TOLD_REACTIONS = 1000;

/** Different ones of one user to one message: everybody is shown all of them. */
export const MOST_REACTIONS = 50;
/** Of one user to one message, those counted too that were taken back: what ever was is kept, and read with the message. */
export const MOST_EVER = 1000;

interface Reacted {
  readonly sign: number;
  /** Who reacted so, by their place, in order. */
  readonly by: readonly { readonly userId: string; readonly place: number }[];
}

export interface Reacting {
  readonly byReaction: PersistentMap<Reacted>;
  /** How many each user has, and ever had. */
  readonly byUser: PersistentMap<{ readonly now: number; readonly ever: number }>;
  /** How many there ever were, and how many different ones. */
  readonly places: number;
  readonly signs: number;
  readonly count: number;
}

export const noReactions: Reacting = {
  byReaction: PersistentMap.empty(),
  byUser: PersistentMap.empty(),
  places: 0,
  signs: 0,
  count: 0,
};

interface Placed {
  readonly userId: string;
  readonly place: number;
  readonly sign: number;
}

/** Where a user's reaction stands, if there is one. */
export function placeOf({ byReaction }: Reacting, reaction: string, userId: string): Placed | undefined {
  const found = byReaction.get(reaction);
  const mine = found?.by.find((each) => each.userId === userId);
  return found && mine && { ...mine, sign: found.sign };
}

/** Whether a user may add no more. */
export function hasEnough({ byUser }: Reacting, userId: string): boolean {
  const { now, ever } = byUser.get(userId) ?? NONE;
  return now >= MOST_REACTIONS || ever >= MOST_EVER;
}

const NONE = { now: 0, ever: 0 };

/** Where a new one comes to stand. */
export const nextPlace = ({ byReaction, places, signs }: Reacting, reaction: string, userId: string): Placed => ({
  userId,
  place: places,
  sign: byReaction.get(reaction)?.sign ?? signs,
});

export function withReaction(state: Reacting, reaction: string, { userId, place, sign }: Placed): Reacting {
  const by = [...(state.byReaction.get(reaction)?.by ?? []), { userId, place }];
  const { now, ever } = state.byUser.get(userId) ?? NONE;
  return {
    byUser: state.byUser.set(userId, { now: now + 1, ever: ever + 1 }),
    byReaction: state.byReaction.set(reaction, { sign, by }),
    places: Math.max(state.places, place + 1),
    signs: Math.max(state.signs, sign + 1),
    count: state.count + 1,
  };
}

/** A reaction that nobody has any more keeps its sign. */
export function withoutReaction(state: Reacting, reaction: string, { place }: Pick<Placed, 'place'>): Reacting {
  const found = state.byReaction.get(reaction);
  const gone = found?.by.find((each) => each.place === place);
  if (!found || !gone) return state;
  const by = found.by.filter((each) => each !== gone);
  const { now, ever } = state.byUser.get(gone.userId) ?? NONE;
  return {
    ...state,
    byReaction: state.byReaction.set(reaction, { ...found, by }),
    byUser: state.byUser.set(gone.userId, { now: now - 1, ever }),
    count: state.count - 1,
  };
}

/** As they are shown: each with the users who reacted so, in order. */
export function reactionsOf({ byReaction }: Reacting): Reactions {
  const shown = [...byReaction].filter(([, { by }]) => by.length > 0);
  shown.sort(([, a], [, b]) => a.sign - b.sign);
  return Object.fromEntries(shown.map(([reaction, { by }]) => [reaction, by.map(({ userId }) => userId)]));
}

/** Null where they are too many to be told with every change of the message. */
export const toldReactions = (state: Reacting): Reactions | null =>
  state.count > TOLD_REACTIONS ? null : reactionsOf(state);
