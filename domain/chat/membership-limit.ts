/** How many members all channels may have together: every node keeps them all in memory, and decides on them. */
import { PersistentMap, type Rejection } from '../shared/index.js';

/** Of all channels together. The state of them all is remembered however large it is, and kept for the next start. */
export const MOST_MEMBERS = 1_000_000;
/** What a channel counts besides its members: its name and topic may take as much room. */
const ITSELF = 40;
/** Who is no admin may have this part of what is left for all others: however many join in, something is left. */
const SHARE = 10;

/** How many there are, by who made their channels. */
export interface MembershipCount {
  readonly all: number;
  readonly of: PersistentMap<number>;
}

interface Counted {
  readonly createdBy: string;
  readonly members: readonly string[];
}

export const nobody: MembershipCount = { all: 0, of: PersistentMap.empty() };

export const tooCrowded: Rejection = {
  rejected: 'chat/too-many-members',
  kind: 'invalid',
  detail: 'There are too many channels, or too many members in them',
};

const weightOf = (channel: Counted | undefined): number => (channel ? channel.members.length + ITSELF : 0);

/** With a channel as it is now for what it was before; undefined for one that is not there. */
export function counted(
  crowd: MembershipCount,
  before: Counted | undefined,
  now: Counted | undefined,
): MembershipCount {
  const creator = (now ?? before)?.createdBy;
  const more = weightOf(now) - weightOf(before);
  if (creator === undefined || more === 0) return crowd;
  const theirs = (crowd.of.get(creator) ?? 0) + more;
  const of = theirs > 0 ? crowd.of.set(creator, theirs) : crowd.of.delete(creator);
  return { all: crowd.all + more, of };
}

/** Whether a channel may become what it is to be; fewer members it may always have. */
export function isTooCrowded(
  crowd: MembershipCount,
  before: Counted | undefined,
  wanted: Counted,
  isAdmin: boolean,
): boolean {
  const then = counted(crowd, before, wanted);
  if (then.all <= crowd.all) return false;
  const left = MOST_MEMBERS - then.all;
  return left < 0 || (!isAdmin && (then.of.get(wanted.createdBy) ?? 0) > left / SHARE);
}
