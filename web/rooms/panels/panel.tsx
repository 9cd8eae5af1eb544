/** A panel beside the conversation; over it on narrow screens. Escape closes it. */
import { X } from 'lucide-preact';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { IconButton } from '../../shared/components/button.js';
import { useRoom } from '../room/context.js';
import { texts } from '../texts.js';

export function Panel({ title, children }: { title: string; children: ComponentChildren }) {
  const { panel } = useRoom();
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    const before = document.activeElement;
    heading.current?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  const close = () => {
    panel.value = undefined;
  };
  return (
    <aside class="panel" aria-label={title} onKeyDown={(event) => event.key === 'Escape' && close()}>
      <header>
        <h2 ref={heading} tabIndex={-1}>
          {title}
        </h2>
        <IconButton icon={X} label={texts.close} onClick={close} />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard */}
      <div class="panel-content" tabIndex={0}>
        {children}
      </div>
    </aside>
  );
}
