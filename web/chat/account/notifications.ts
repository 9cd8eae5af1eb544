/** What this browser notifies about. The workspace reads it for each message. */
import { signal } from '@preact/signals';
import { permission } from '../../shared/notifications.js';
import { stored } from '../../shared/storage.js';

export type NotifyAbout = 'everything' | 'mentions' | 'nothing';

const storage = stored<NotifyAbout>('chat.notify', 'mentions');

export const notifyAbout = signal<NotifyAbout>(storage.get());

export function setNotifyAbout(value: NotifyAbout): void {
  storage.set(value);
  notifyAbout.value = value;
}

/** Whether to show notifications at all. */
export const canNotify = (): boolean => permission.value === 'granted' && notifyAbout.value !== 'nothing';
