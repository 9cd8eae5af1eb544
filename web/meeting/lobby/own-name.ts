/** Our name, remembered for the next meeting. */
import { signal } from '@preact/signals';
import { stored } from '../../shared/storage.js';

const kept = stored('meeting.name', '');

export const ownName = signal(kept.get());
export const rememberName = (name: string): void => void kept.set(name);
