/** Where messages and replies are written: text, mentions, images and files; kept as a draft until it is sent. */
import { AtSign, Paperclip, SendHorizontal, Smile, X } from 'lucide-preact';
import { useEffect, useRef } from 'preact/hooks';
import { Button, IconButton } from '../../shared/components/button.js';
import { toast } from '../../shared/components/toasts.js';
import { isTouch } from '../../shared/dom.js';
import { EmojiPicker } from '../emoji-picker.js';
import { ACCEPTED } from '../state/file-kinds.js';
import { texts } from '../texts/workspace.js';
import { Quote } from '../timeline/quote.js';
import { useWorkspace } from '../workspace/context.js';
import { isEmpty } from '../workspace/drafts.js';
import { DraftFiles } from './draft-files.js';
import { useFileDrop } from './file-drop.js';
import { MentionTextarea } from './mention-textarea.js';

interface ComposerProps {
  readonly placeId: string;
  /** Parent message, to write a reply. */
  readonly threadId?: string;
  readonly placeholder: string;
  /** The user wants to edit his last message. */
  readonly onEditLast: () => void;
  readonly onSent: () => void;
}

/** Selector of the field, to give it the focus from elsewhere. */
export const COMPOSER_FIELD = '.composer textarea';

export function Composer({ placeId, threadId, placeholder, onEditLast, onSent }: ComposerProps) {
  const { drafts, uploads, draftSender } = useWorkspace();
  const key = threadId ?? placeId;
  const element = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const draft = drafts.of(key).value;
  const running = uploads.of(key).value;
  const isWaiting = draftSender.isWaiting(key);

  useEffect(() => {
    if (matchMedia('(hover: hover)').matches) field.current?.focus();
  }, [key]);
  function send() {
    if (isEmpty(drafts.of(key).peek()) && running.length === 0) return;
    draftSender.send({ placeId, ...(threadId !== undefined && { threadId }) });
    onSent();
    field.current?.focus();
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey && !isTouch()) {
      event.preventDefault();
      send();
    } else if (event.key === 'ArrowUp' && !event.altKey && draft.content === '') {
      event.preventDefault();
      onEditLast();
    } else if (event.key === 'Escape' && draft.quotedMessageId !== null) {
      event.stopPropagation();
      drafts.change(key, { quotedMessageId: null });
    }
  }

  function addFiles(files: Iterable<File>) {
    for (const text of uploads.add(key, placeId, files)) toast({ tone: 'bad', text });
    field.current?.focus();
  }

  const isDropping = useFileDrop(element, addFiles);

  function onPaste(event: ClipboardEvent) {
    const files = event.clipboardData?.files;
    // Text copied from office programs brings a picture of itself along.
    if (!files?.length || event.clipboardData?.types.includes('text/plain')) return;
    event.preventDefault();
    addFiles(files);
  }

  function insertMention() {
    const { content } = drafts.of(key).peek();
    drafts.change(key, { content: `${content}${content === '' || /\s$/.test(content) ? '' : ' '}@` });
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.dispatchEvent(new Event('input', { bubbles: true }));
    });
  }

  /** Replaces what is selected. */
  function insert(text: string) {
    if (!field.current) return;
    const { selectionStart, selectionEnd } = field.current;
    field.current.focus();
    field.current.setRangeText(text, selectionStart, selectionEnd, 'end');
    drafts.change(key, { content: field.current.value });
  }

  return (
    <div ref={element} class={`composer${isDropping ? ' dropping' : ''}`}>
      {draft.quotedMessageId !== null && (
        <div class="composer-quote">
          <Quote id={draft.quotedMessageId} placeId={placeId} threadId={threadId} />
          <IconButton
            small
            icon={X}
            label={texts.removeQuote}
            onClick={() => drafts.change(key, { quotedMessageId: null })}
          />
        </div>
      )}
      <MentionTextarea
        field={field}
        value={draft.content}
        label={placeholder}
        placeholder={placeholder}
        placeId={placeId}
        onChange={(content) => drafts.change(key, { content })}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <DraftFiles draftKey={key} placeId={placeId} />
      <div class="composer-actions">
        <IconButton small icon={Paperclip} label={texts.attach} onClick={() => picker.current?.click()} />
        <IconButton small icon={AtSign} label={texts.mention} onClick={insertMention} />
        <EmojiPicker icon={Smile} label={texts.insertEmoji} onPick={insert} />
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          accept={ACCEPTED}
          aria-label={texts.attach}
          onChange={(event) => {
            addFiles([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = '';
          }}
        />
        <span class="quiet hint">{isWaiting ? texts.sendsWhenUploaded : draft.content !== '' && texts.enterHint}</span>
        <Button
          small
          variant="main"
          icon={SendHorizontal}
          disabled={isEmpty(draft) && running.length === 0}
          busy={isWaiting}
          onClick={send}
        >
          {texts.send}
        </Button>
      </div>
      {isDropping && <div class="drop-hint">{texts.dropHere}</div>}
    </div>
  );
}
