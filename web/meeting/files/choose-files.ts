/** Sends files to participants: chosen in a dialog of the browser, dropped or pasted. */
import { toast } from '../../shared/components/toasts.js';
import { files } from '../meeting/meeting.js';
import { me, room } from '../meeting/state.js';
import { texts } from '../texts.js';
import { MAX_FILE_BYTES } from './files.js';
import { inBytes } from './size.js';

const everyoneElse = () => [...room.value.people.keys()].filter((id) => id !== me.value);

/** `targetIds`: everyone else if omitted. */
export function sendFiles(chosen: Iterable<File>, targetIds = everyoneElse()): void {
  if (targetIds.length === 0) toast({ text: texts.files.nobody, tone: 'bad' });
  for (const file of targetIds.length > 0 ? chosen : []) {
    if (file.size > MAX_FILE_BYTES)
      toast({ text: texts.files.tooLarge(file.name, inBytes(MAX_FILE_BYTES)), tone: 'bad' });
    else files.offer(targetIds, file);
  }
}

/** Lets the user choose files. */
export function chooseFiles(targetIds?: readonly string[]): void {
  const input = document.createElement('input');
  input.type = 'file';
  input.multiple = true;
  input.onchange = () => sendFiles(input.files ?? [], targetIds ? [...targetIds] : undefined);
  input.click();
}
