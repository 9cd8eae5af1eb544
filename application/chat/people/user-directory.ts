/** Lists users by join date, sorted incrementally in time slices. */
import type { RosterState, User } from '../../../domain/chat/roster.js';
import { PersistentMap } from '../../../domain/shared/index.js';
import { runSliced } from '../../concurrency/index.js';

export type UserView = Pick<User, 'id' | 'userName' | 'isAdmin' | 'createdAt'>;

export const userView = ({ id, userName, isAdmin, createdAt }: User): UserView => ({
  id,
  userName,
  isAdmin,
  createdAt,
});

const SLICE = 500;

const byJoinDate = (a: User, b: User): number => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);

/** All users of a state, sorted, including former ones: none is ever dropped. */
interface SortedUsers {
  readonly users: RosterState['users'];
  readonly all: readonly User[];
}

export function createUserDirectory() {
  let known: SortedUsers = { users: PersistentMap.empty(), all: [] };
  const lists = new WeakMap<RosterState, Promise<readonly UserView[]>>();

  async function list({ users }: RosterState): Promise<readonly UserView[]> {
    // An older state is sorted from scratch and not kept: users may be missing there.
    const from = users.size < known.users.size ? { users: PersistentMap.empty<User>(), all: [] } : known;
    const all = await runSliced(sortUsers(users, from));
    if (users.size >= known.users.size) known = { users, all };
    return all.filter(({ isGone }) => !isGone).map(userView);
  }

  return (roster: RosterState): Promise<readonly UserView[]> => {
    const listing = lists.get(roster) ?? list(roster);
    lists.set(roster, listing);
    return listing;
  };
}

function* sortUsers(users: SortedUsers['users'], known: SortedUsers): Generator<void, readonly User[]> {
  let runs: (readonly User[])[] = [];
  let some: User[] = [];
  const changed = new Set<string>();
  for (const [id, user] of users.since(known.users)) {
    changed.add(id);
    some.push(user);
    if (some.length < SLICE) continue;
    runs.push(some.sort(byJoinDate));
    some = [];
    yield;
  }
  runs.push(some.sort(byJoinDate));
  while (runs.length > 1) {
    const pairs: (readonly User[])[] = [];
    for (let at = 0; at < runs.length; at += 2) pairs.push(yield* mergeSorted(runs[at]!, runs[at + 1] ?? []));
    runs = pairs;
  }
  const unchanged = known.all.filter(({ id }) => !changed.has(id));
  return yield* mergeSorted(unchanged, runs[0]!);
}

/** Merges two sorted lists; stretches of the longer one are copied whole. */
function* mergeSorted(one: readonly User[], other: readonly User[]): Generator<void, readonly User[]> {
  const [long, short] = one.length < other.length ? [other, one] : [one, other];
  const all: User[] = [];
  let from = 0;
  for (const [index, user] of short.entries()) {
    const to = countBefore(user, long, from);
    for (; from < to; from++) all.push(long[from]!);
    all.push(user);
    if (index % SLICE === SLICE - 1) yield;
  }
  return from === 0 && all.length === 0 ? long : all.concat(long.slice(from));
}

/** Number of users that precede one, by binary search from `from`. */
function countBefore(user: User, all: readonly User[], from: number): number {
  let [low, high] = [from, all.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (byJoinDate(all[middle]!, user) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
