/** A box that floats at an element until a click beside it or Escape. */
import type { Placement } from '@floating-ui/dom';
import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { float } from './menu.js';

interface PopoverProps {
  readonly anchor: RefObject<HTMLElement>;
  readonly label: string;
  readonly placement?: Placement;
  readonly class?: string;
  /** Selector of what gets the focus; by default the first button or field. */
  readonly focus?: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** Open while it is rendered. */
export function Popover({
  anchor,
  label,
  placement,
  class: name = '',
  focus = 'button, input',
  onClose,
  children,
}: PopoverProps) {
  const element = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (!element.current || !anchor.current) return;
    element.current.showPopover();
    element.current.querySelector<HTMLElement>(focus)?.focus();
    return float(anchor.current, element.current, placement);
  }, []);
  return (
    <div
      ref={element}
      class={`menu popover ${name}`}
      role="dialog"
      aria-label={label}
      popover="auto"
      onToggle={(event) => event.newState === 'closed' && onClose()}
    >
      {children}
    </div>
  );
}
