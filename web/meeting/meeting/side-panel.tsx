/** A panel beside the stage. On a phone it covers the stage; Escape closes it. */
import { X } from 'lucide-preact';
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { IconButton } from '../../shared/components/button.js';
import { panel } from './panel.js';

interface SidePanelProps {
  readonly title: string;
  readonly closeLabel: string;
  readonly children: ComponentChildren;
}

export function SidePanel({ title, closeLabel, children }: SidePanelProps) {
  const titleId = useId();
  const element = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const opener = document.activeElement as HTMLElement | null;
    if (!element.current?.contains(opener)) element.current?.focus();
    return () => {
      // Only if the focus was in here.
      if (document.activeElement === document.body) opener?.focus();
    };
  }, []);
  const close = () => {
    panel.value = undefined;
  };
  return (
    <aside
      ref={element}
      class="side-panel"
      aria-labelledby={titleId}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !event.defaultPrevented) close();
      }}
    >
      <header>
        <h2 id={titleId}>{title}</h2>
        <IconButton icon={X} label={closeLabel} onClick={close} />
      </header>
      {children}
    </aside>
  );
}
