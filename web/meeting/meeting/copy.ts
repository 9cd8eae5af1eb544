/** Copies a text and says so; where the browser refuses, shows the text. */
import { copyText } from '../../shared/components/copy-button.js';
import { toast } from '../../shared/components/toasts.js';
import { texts } from '../texts.js';

export function copyWithNotice(text: string, notice: string): void {
  copyText(text).then(
    () => toast({ text: notice }),
    () => toast({ text: `${texts.header.copyFailed} ${text}`, tone: 'bad' }),
  );
}
