/** Our name, remembered for the next meeting. */
import { signal } from '@preact/signals';
import { stored } from '../../shared/storage.js';

const storage = stored('meeting.name', '');

export const ownName = signal(storage.get());
export const rememberName = (name: string): void => void storage.set(name);
