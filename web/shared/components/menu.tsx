/** A button that opens a menu: arrow keys, Home, End and Escape; focus returns to the button. */
import { autoUpdate, computePosition, flip, offset, type Placement, shift } from '@floating-ui/dom';
import { Check, Ellipsis } from 'lucide-preact';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button, IconButton } from './button.js';
import { Icon, type IconType } from './icon.js';

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconType;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  /** For items of which one or several are on. */
  readonly checked?: boolean;
  readonly run: () => void;
}

/** `'separator'` draws a line between groups. */
export type MenuEntry = MenuItem | 'separator';

interface MenuProps {
  /** Name of the menu, and of the button if it shows an icon. */
  readonly label: string;
  /** The button shows the icon alone, or these children. */
  readonly icon?: IconType;
  readonly children?: ComponentChildren;
  readonly small?: boolean;
  readonly placement?: Placement;
  readonly items: () => readonly MenuEntry[];
}

/** Keeps a floating element at its anchor while both are shown; returns a function that stops it. */
export function float(anchor: Element, floating: HTMLElement, placement: Placement = 'bottom-end'): () => void {
  return autoUpdate(anchor, floating, async () => {
    const middleware = [offset(4), flip(), shift({ padding: 8 })];
    const { x, y } = await computePosition(anchor, floating, { placement, middleware, strategy: 'fixed' });
    Object.assign(floating.style, { left: `${x}px`, top: `${y}px` });
  });
}

export function Menu({ label, icon = Ellipsis, children, small, placement, items }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const anchor = useRef<HTMLSpanElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const buttonOf = () => anchor.current?.querySelector('button');
  const itemElements = () => [...(menu.current?.querySelectorAll<HTMLElement>('[role^=menuitem]:enabled') ?? [])];

  useLayoutEffect(() => {
    if (!isOpen || !menu.current || !anchor.current) return;
    menu.current.showPopover();
    const stop = float(anchor.current, menu.current, placement);
    itemElements()[0]?.focus();
    return stop;
  }, [isOpen]);

  function close(returnFocus = true) {
    setOpen(false);
    if (returnFocus) buttonOf()?.focus();
  }

  function onKeyDown(event: KeyboardEvent) {
    const elements = itemElements();
    const index = elements.indexOf(document.activeElement as HTMLElement);
    const next = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: -1 }[event.key];
    if (event.key === 'Tab') close(false);
    if (next === undefined) return;
    event.preventDefault();
    elements.at(next % elements.length)?.focus();
  }

  const attributes = {
    'aria-haspopup': 'menu' as const,
    'aria-expanded': isOpen,
    onClick: () => setOpen(!isOpen),
  };
  return (
    <span ref={anchor}>
      {children === undefined ? (
        <IconButton icon={icon} label={label} small={small ?? false} {...attributes} />
      ) : (
        <Button variant="ghost" small={small ?? false} title={label} {...attributes}>
          {children}
        </Button>
      )}
      {isOpen && (
        <div
          ref={menu}
          class="menu"
          role="menu"
          aria-label={label}
          tabIndex={-1}
          popover="auto"
          onKeyDown={onKeyDown}
          onToggle={(event) => event.newState === 'closed' && close(document.activeElement === document.body)}
        >
          {items().map((entry, index) =>
            entry === 'separator' ? (
              <hr key={index} />
            ) : (
              <MenuItemButton key={entry.label} item={entry} close={close} />
            ),
          )}
        </div>
      )}
    </span>
  );
}

function MenuItemButton({ item, close }: { item: MenuItem; close: () => void }) {
  const { label, icon, danger, disabled, checked, run } = item;
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: the attribute is set for checkbox items only
    <button
      type="button"
      role={checked === undefined ? 'menuitem' : 'menuitemcheckbox'}
      aria-checked={checked}
      class={danger ? 'danger' : undefined}
      disabled={disabled}
      onClick={() => {
        close();
        run();
      }}
    >
      {icon && <Icon of={icon} />}
      <span>{label}</span>
      {checked && <Icon of={Check} />}
    </button>
  );
}
