/** State of the meeting in signals; `connection.ts` sets it. */
import { computed, signal } from '@preact/signals';
import type { Link } from '../media/peer.js';
import type { Join } from '../protocol/messages.js';
import { emptyRoom, isModerator, raisedHands } from '../protocol/room.js';
import type { State } from '../protocol/session.js';
import { texts } from '../texts.js';

/** What the user joins with. */
export type Ticket = Omit<Join, 'type'> & {
  /** Known to the creator, and to who came by a link with it. */
  readonly title: string;
};

export const state = signal<State>({ status: 'out', room: emptyRoom, roomId: '', trouble: '' });
/** Of the meeting that we joined last. */
export const ticket = signal<Ticket | undefined>();
/** Connections to the others by id. */
export const links = signal<ReadonlyMap<string, Link>>(new Map());

export const room = computed(() => state.value.room);
export const me = computed(() => room.value.me);
export const isModerating = computed(() => isModerator(room.value));
/** Ids of people with a raised hand, the first raised first. */
export const hands = computed(() => raisedHands(room.value));
/** Undefined while we are not inside. */
export const self = computed(() => room.value.people.get(me.value ?? ''));

/** Which of the three views is shown. A lost connection keeps the view. */
export const view = computed(() => {
  const { status, room } = state.value;
  const isIn = status === 'inside' || status === 'away';
  if (room.isInside && isIn) return 'meeting';
  return !room.isInside && (status === 'waiting' || status === 'away') ? 'waiting' : 'lobby';
});

/** Includes people who have left. */
const names = new Map<string, string>();
room.subscribe(({ people }) => {
  for (const [id, { name }] of people) names.set(id, name);
});

export const nameOf = (id: string): string => names.get(id) ?? texts.somebody;
