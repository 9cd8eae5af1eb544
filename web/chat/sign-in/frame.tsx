/** The card that all views of signing in share. */
import { MessagesSquare } from 'lucide-preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../../shared/components/icon.js';

interface FrameProps {
  readonly title: string;
  readonly text?: string | undefined;
  readonly children: ComponentChildren;
}

/** Focuses the first empty field, or the main button, unless that would open the keyboard of a phone. */
function focusFirst(card: HTMLElement) {
  const fields = [...card.querySelectorAll<HTMLInputElement>('input:not([type=hidden], [readonly])')];
  const target = fields.find(({ value }) => value === '') ?? card.querySelector<HTMLElement>('button.main');
  if (matchMedia('(pointer: fine)').matches) target?.focus();
}

export function Frame({ title, text, children }: FrameProps) {
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (card.current) focusFirst(card.current);
  }, [title]);
  return (
    <main class="sign-in">
      <div ref={card} class="sign-in-card card">
        <p class="sign-in-host">
          <Icon of={MessagesSquare} />
          {location.host}
        </p>
        <h1>{title}</h1>
        {text && <p class="quiet">{text}</p>}
        {children}
      </div>
    </main>
  );
}
