/** A button that opens a searchable grid of emoji: arrow keys move in it, Enter in the search picks the first. */

import { useRef, useState } from 'preact/hooks';
import { IconButton } from '../shared/components/button.js';
import type { IconType } from '../shared/components/icon.js';
import { Popover } from '../shared/components/popover.js';
import { isTouch } from '../shared/dom.js';
import { findEmoji } from './texts/emoji.js';
import { texts } from './texts/workspace.js';

interface EmojiPickerProps {
  readonly icon: IconType;
  /** Name of the button and of the box that it opens. */
  readonly label: string;
  readonly onPick: (sign: string) => void;
}

export function EmojiPicker({ icon, label, onPick }: EmojiPickerProps) {
  const [isOpen, setOpen] = useState(false);
  const anchor = useRef<HTMLSpanElement>(null);
  function pick(sign: string) {
    setOpen(false);
    anchor.current?.querySelector('button')?.focus();
    onPick(sign);
  }
  return (
    <span ref={anchor}>
      <IconButton
        icon={icon}
        small
        label={label}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      />
      {isOpen && (
        <Popover
          anchor={anchor}
          label={label}
          class="emoji-picker"
          // A field would open the keyboard of the screen.
          focus={isTouch() ? '.emoji-grid button' : 'input'}
          onClose={() => setOpen(false)}
        >
          <Grid pick={pick} />
        </Popover>
      )}
    </span>
  );
}

function Grid({ pick }: { pick: (sign: string) => void }) {
  const [typed, setTyped] = useState('');
  const [active, setActive] = useState(0);
  const search = useRef<HTMLInputElement>(null);
  const grid = useRef<HTMLDivElement>(null);
  const found = findEmoji(typed);

  function onSearchKey(event: KeyboardEvent) {
    if (event.key === 'Enter' && found[0]) pick(found[0].sign);
    else if (event.key === 'ArrowDown') focus(0);
    else return;
    event.preventDefault();
  }

  function focus(index: number) {
    const button = grid.current?.querySelectorAll('button')[index];
    if (!button) return;
    setActive(index);
    button.focus();
  }

  function onGridKey(event: KeyboardEvent) {
    const buttons = [...(grid.current?.querySelectorAll('button') ?? [])];
    const columns = buttons.filter(({ offsetTop }) => offsetTop === buttons[0]?.offsetTop).length;
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns }[event.key];
    const next = step === undefined ? { Home: 0, End: buttons.length - 1 }[event.key] : active + step;
    if (next === undefined) return;
    event.preventDefault();
    if (next < 0) search.current?.focus();
    else focus(Math.min(next, buttons.length - 1));
  }

  return (
    <>
      <input
        ref={search}
        type="search"
        aria-label={texts.searchEmoji}
        placeholder={texts.searchEmoji}
        value={typed}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value);
          setActive(0);
        }}
        onKeyDown={onSearchKey}
      />
      {/* biome-ignore lint/a11y/useSemanticElements: a toolbar of buttons, of which one is reached by Tab */}
      <div ref={grid} class="emoji-grid" role="group" aria-label={texts.emoji} onKeyDown={onGridKey}>
        {found.map(({ sign, name }, index) => (
          <button
            key={sign}
            type="button"
            title={name}
            aria-label={name}
            tabIndex={index === active ? 0 : -1}
            onFocus={() => setActive(index)}
            onClick={() => pick(sign)}
          >
            {sign}
          </button>
        ))}
      </div>
      <p class="quiet" role="status">
        {found.length === 0 && texts.noEmoji}
      </p>
    </>
  );
}
