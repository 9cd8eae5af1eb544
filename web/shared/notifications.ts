/** Notifications of the system, shown while the page is open in a tab. */
import { signal } from '@preact/signals';

/** Whether the user is looking at the page. */
export const isPageFocused = (): boolean => document.visibilityState === 'visible' && document.hasFocus();

/** `unsupported`: the browser has none, or wants https. */
export const permission = signal<NotificationPermission | 'unsupported'>(readPermission());

function readPermission() {
  return 'Notification' in globalThis && isSecureContext ? Notification.permission : 'unsupported';
}

/** Asks the browser's user; must be called from a click. */
export async function askPermission(): Promise<NotificationPermission | 'unsupported'> {
  if (permission.value === 'default') await Notification.requestPermission();
  permission.value = readPermission();
  return permission.value;
}

/** Shows a notification; a later one with the same `tag` replaces it. A click brings this tab to the front. */
export function notify(title: string, body: string, tag: string, onClick: () => void = () => {}): void {
  if (permission.value !== 'granted') return;
  try {
    const notification = new Notification(title, { body, tag });
    notification.onclick = () => {
      window.focus();
      notification.close();
      onClick();
    };
  } catch {
    // Browsers of phones have the constructor, but refuse it.
    permission.value = 'unsupported';
  }
}
