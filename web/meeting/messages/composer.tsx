/** The field to write messages in. Enter sends, Shift and Enter begins a new line; pasted files are sent. */
import { Paperclip, SendHorizontal, X } from 'lucide-preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { IconButton } from '../../shared/components/button.js';
import { toast } from '../../shared/components/toasts.js';
import { isComposing } from '../../shared/dom.js';
import { chooseFiles, sendFiles } from '../files/choose-files.js';
import { outbox } from '../meeting/meeting.js';
import { texts } from '../texts.js';
import { quoteOf } from './message-line.js';
import { draft, replyTo } from './timeline.js';

const { chat: words } = texts;
const MAX_LENGTH = 2000;

function send() {
  const text = draft.value.trim();
  const excess = [...text].length - MAX_LENGTH;
  if (text === '' || excess > 0) return;
  const quoted = replyTo.value;
  if (!outbox.add({ text, ...(quoted && { replyTo: quoted.messageId }) })) {
    toast({ text: words.full, tone: 'bad' });
    return;
  }
  draft.value = '';
  replyTo.value = undefined;
}

export function Composer() {
  const field = useRef<HTMLTextAreaElement>(null);
  const text = draft.value;
  const quoted = replyTo.value;
  const excess = [...text.trim()].length - MAX_LENGTH;
  // As high as its text.
  useLayoutEffect(() => {
    const area = field.current;
    if (!area) return;
    area.style.height = 'auto';
    area.style.height = `${area.scrollHeight + 2}px`;
  }, [text]);
  useEffect(() => {
    // Touch screens would show their keyboard over the chat.
    if (matchMedia('(pointer: fine)').matches || quoted) field.current?.focus();
  }, [quoted]);
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {quoted && (
        <p class="replying">
          <span>{words.replying(quoteOf(quoted))}</span>
          <IconButton
            small
            icon={X}
            label={words.cancelReply}
            onClick={() => {
              replyTo.value = undefined;
            }}
          />
        </p>
      )}
      <IconButton icon={Paperclip} label={words.attach} onClick={() => chooseFiles()} />
      <textarea
        ref={field}
        rows={1}
        aria-label={words.message}
        placeholder={words.placeholder}
        aria-invalid={excess > 0 || undefined}
        value={text}
        onInput={({ currentTarget }) => {
          draft.value = currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || isComposing(event)) return;
          event.preventDefault();
          send();
        }}
        onPaste={(event) => {
          const pasted = [...(event.clipboardData?.files ?? [])];
          if (pasted.length === 0) return;
          event.preventDefault();
          sendFiles(pasted);
        }}
      />
      <IconButton icon={SendHorizontal} label={words.send} type="submit" disabled={text.trim() === '' || excess > 0} />
      {excess > 0 && (
        <p class="excess" role="status">
          {words.tooLong(excess)}
        </p>
      )}
    </form>
  );
}
