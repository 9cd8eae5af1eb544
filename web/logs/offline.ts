/** Whether the browser is offline. */
import { signal } from '@preact/signals';

export const isOffline = signal(!navigator.onLine);

for (const type of ['online', 'offline'])
  addEventListener(type, () => {
    isOffline.value = !navigator.onLine;
  });
