/** Whether the help is shown. */
import { signal } from '@preact/signals';

export const help = signal(false);
