/** Reactions that float over the pictures for some seconds. */
import { signal } from '@preact/signals';

/** Those that the protocol names; others are shown as text. */
export const REACTIONS: ReadonlyMap<string, string> = new Map([
  ['thumb', '👍'],
  ['clap', '👏'],
  ['party', '🎉'],
  ['heart', '❤️'],
  ['laugh', '😂'],
]);

export interface Reaction {
  readonly key: number;
  readonly participantId: string;
  readonly sign: string;
}

const DISPLAY_MS = 4000;

export const reactions = signal<readonly Reaction[]>([]);
let lastKey = 0;

export function showReaction(participantId: string, reaction: string): void {
  const key = ++lastKey;
  reactions.value = [...reactions.value, { key, participantId, sign: REACTIONS.get(reaction) ?? reaction }];
  setTimeout(() => {
    reactions.value = reactions.value.filter((each) => each.key !== key);
  }, DISPLAY_MS);
}
