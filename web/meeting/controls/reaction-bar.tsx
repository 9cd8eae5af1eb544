/** Reactions to choose from, above the controls. */
import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { send } from '../meeting/connection.js';
import { me } from '../meeting/state.js';
import { REACTIONS, showReaction } from '../stage/reactions.js';
import { texts } from '../texts.js';

const { controls: words } = texts;

export const isReacting = signal(false);

function react(reaction: string) {
  if (send({ type: 'reaction', reaction })) showReaction(me.value ?? '', reaction);
}

export function ReactionBar() {
  const element = useRef<HTMLFieldSetElement>(null);
  const isOpen = isReacting.value;
  useLayoutEffect(() => {
    if (!isOpen) return;
    const opener = document.activeElement as HTMLElement | null;
    element.current?.querySelector('button')?.focus();
    return () => opener?.focus();
  }, [isOpen]);
  if (!isOpen) return null;
  return (
    <fieldset
      ref={element}
      class="reaction-bar"
      aria-label={words.react}
      onKeyDown={(event) => {
        if (event.key === 'Escape') isReacting.value = false;
      }}
    >
      {[...REACTIONS].map(([name, sign]) => (
        <button
          key={name}
          type="button"
          title={texts.reactions[name as keyof typeof texts.reactions]}
          aria-label={words.reactWith(texts.reactions[name as keyof typeof texts.reactions])}
          onClick={() => react(name)}
        >
          {sign}
        </button>
      ))}
    </fieldset>
  );
}
