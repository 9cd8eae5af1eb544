/** Announces to screen readers what is shown elsewhere on the page. */
import { signal } from '@preact/signals';

const announcement = signal('');

export function announce(text: string): void {
  announcement.value = text;
}

/** To be rendered once. */
export const Announcer = () => (
  <p class="unseen" role="status">
    {announcement.value}
  </p>
);
