/** Limits of chat aggregates: counts per user, and memberships of all channels together. */
import { PersistentMap, type Rejection, rejection } from '../shared/index.js';

/** Rejects a command that exceeds a limit; `limit` completes the sentence "At most ...". */
export const atMost = (rejected: `chat/${string}`, limit: string): Rejection =>
  rejection(rejected, 'invalid', `At most ${limit}`);

export const badLength = (rejected: `chat/${string}`, what: string, maxLength: number): Rejection =>
  rejection(rejected, 'invalid', `${what} must be 1 to ${maxLength} characters`);

export type Counts = PersistentMap<number>;

export const noCounts: Counts = PersistentMap.empty();

export const countOf = (counts: Counts, key: string): number => counts.get(key) ?? 0;

export function addCount(counts: Counts, key: string, more = 1): Counts {
  const total = countOf(counts, key) + more;
  return total > 0 ? counts.set(key, total) : counts.delete(key);
}

/** Memberships of all channels. The state is cached and stored in snapshots however large it is. */
export const MAX_MEMBERS = 1_000_000;
/** Memberships a channel counts for by itself; its name and topic take about as much memory. */
const CHANNEL_WEIGHT = 40;
/** Users other than admins may each hold 1/10 of the remaining capacity, so new users never exhaust the limit. */
const SHARE_DIVISOR = 10;

/** Key of all channels together, beside those of their creators. */
const ALL = 'all';

interface Counted {
  readonly createdBy: string;
  readonly members: readonly string[];
}

export const tooManyMembers = rejection('chat/too-many-members', 'invalid', 'Too many channels or channel members');

const weightOf = (channel: Counted | undefined): number => (channel ? channel.members.length + CHANNEL_WEIGHT : 0);

/** Replaces a channel's memberships in the counts by creator; undefined stands for a missing channel. */
export function countMembers(counts: Counts, before: Counted | undefined, now: Counted | undefined): Counts {
  const creator = (now ?? before)?.createdBy;
  const more = weightOf(now) - weightOf(before);
  return creator === undefined || more === 0 ? counts : addCount(addCount(counts, creator, more), ALL, more);
}

/** Whether a change would exceed the limit; reducing members is always allowed. */
export function exceedsMemberLimit(
  counts: Counts,
  before: Counted | undefined,
  proposed: Counted,
  isAdmin: boolean,
): boolean {
  const next = countMembers(counts, before, proposed);
  if (countOf(next, ALL) <= countOf(counts, ALL)) return false;
  const left = MAX_MEMBERS - countOf(next, ALL);
  return left < 0 || (!isAdmin && countOf(next, proposed.createdBy) > left / SHARE_DIVISOR);
}
