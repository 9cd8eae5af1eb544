/** What this browser notifies about. The workspace reads it for each message. */
import { signal } from '@preact/signals';
import { stored } from '../../shared/storage.js';

export type NotifyAbout = 'everything' | 'mentions' | 'nothing';

const kept = stored<NotifyAbout>('chat.notify', 'mentions');

export const notifyAbout = signal<NotifyAbout>(kept.get());

export function setNotifyAbout(value: NotifyAbout): void {
  kept.set(value);
  notifyAbout.value = value;
}

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

/** Whether to show notifications at all. */
export const canNotify = (): boolean => permission.value === 'granted' && notifyAbout.value !== 'nothing';

/** Shows a notification; a later one with the same `tag` replaces it. A click brings this tab to the front. */
export function notify(title: string, body: string, tag: string, onClick: () => void = () => {}): void {
  if (permission.value !== 'granted') return;
  try {
    const shown = new Notification(title, { body, tag });
    shown.onclick = () => {
      window.focus();
      shown.close();
      onClick();
    };
  } catch {
    // Browsers of phones have the constructor, but refuse it.
    permission.value = 'unsupported';
  }
}
