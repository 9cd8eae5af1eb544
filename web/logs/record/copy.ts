/** Copies a text and says so. */
import { copyText } from '../../shared/components/copy-button.js';
import { toast } from '../../shared/components/toasts.js';
import { texts } from '../texts.js';

export async function copy(text: string, done: string = texts.results.copied): Promise<void> {
  try {
    await copyText(text);
    toast({ text: done });
  } catch {
    toast({ text: texts.results.copyFailed, tone: 'bad' });
  }
}
