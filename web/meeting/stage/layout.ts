/** What the stage shows in large, and what beside it. */
import { computed, signal } from '@preact/signals';
import { currentSpeaker } from '../media/levels.js';
import { screen } from '../media/screen.js';
import { links, me, room } from '../meeting/state.js';

export interface Item {
  readonly kind: 'person' | 'screen';
  readonly participantId: string;
}

export const keyOf = ({ kind, participantId }: Item): string => `${kind}-${participantId}`;

export const isSpeakerView = signal(false);
/** Key of the item that the user wants large. */
export const pinned = signal<string | undefined>();

export function togglePin(key: string): void {
  pinned.value = pinned.value === key ? undefined : key;
}

export function resetStage(): void {
  pinned.value = undefined;
}

/** Screens first; then people in order of joining, ourselves last. */
const items = computed<readonly Item[]>(() => {
  const own = me.value;
  const ids = [...room.value.people.keys()];
  const others = ids.filter((id) => id !== own);
  const screens = others.filter((id) => links.value.get(id)?.screen);
  const ownScreen = screen.value && own !== undefined ? [own] : [];
  const ordered = own !== undefined && ids.includes(own) ? [...others, own] : others;
  return [
    ...[...screens, ...ownScreen].map((participantId) => ({ kind: 'screen', participantId }) as const),
    ...ordered.map((participantId) => ({ kind: 'person', participantId }) as const),
  ];
});

export interface Arrangement {
  /** Undefined in a grid. */
  readonly large: Item | undefined;
  readonly others: readonly Item[];
}

/** Pinned first, then the newest screen of others, then who speaks, if the user prefers that to a grid. */
export const arrangement = computed<Arrangement>(() => {
  const all = items.value;
  const own = me.value;
  const speaker = (): Item | undefined => {
    const people = all.filter(({ kind, participantId }) => kind === 'person' && participantId !== own);
    return people.find(({ participantId }) => participantId === currentSpeaker.value) ?? people[0];
  };
  const large =
    all.find((each) => keyOf(each) === pinned.value) ??
    all.find(({ kind, participantId }) => kind === 'screen' && participantId !== own) ??
    (isSpeakerView.value ? speaker() : undefined);
  return { large, others: all.filter((each) => each !== large) };
});
