/** Where messages are written: kept while typing, sent with Enter, files by button, paste and drop. */
import { useSignal } from '@preact/signals';
import { ArrowUp, KeyRound, Paperclip, X } from 'lucide-preact';
import { useEffect, useRef } from 'preact/hooks';
import { IconButton } from '../../shared/components/button.js';
import { Banner } from '../../shared/components/states.js';
import { toast } from '../../shared/components/toasts.js';
import { isComposing } from '../../shared/dom.js';
import { FileTooLarge, fits, MAX_FILE_BYTES, partsOf } from '../files.js';
import { byteSize } from '../format.js';
import { loadDraft, saveDraft } from '../secrets.js';
import { texts } from '../texts.js';
import { nameOf, useRoom } from './context.js';

const words = texts.composer;

/** On touch screens the keyboard would cover the messages, and its Enter key begins a new line. */
const hasKeyboard = matchMedia('(pointer: fine)').matches;

export function Composer() {
  const { session, replyTo } = useRoom();
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const text = useSignal('');
  const isDropping = useSignal(false);
  /** Name of the file that is being made smaller. */
  const preparing = useSignal<string | undefined>(undefined);
  const content = () =>
    ({ kind: 'text', text: text.value.trim(), ...(replyTo.value && { replyTo: replyTo.value }) }) as const;
  const isTooLong = text.value.length > 5000 && !fits(content());

  useEffect(() => {
    void loadDraft(session.localKey, session.roomId).then((draft) => {
      if (text.value === '') setText(draft, false);
    });
    if (hasKeyboard) area.current?.focus();
  }, []);
  useEffect(() => {
    if (replyTo.value) area.current?.focus();
  }, [replyTo.value]);

  function setText(value: string, isTyped = true) {
    text.value = value;
    if (isTyped) void saveDraft(session.localKey, session.roomId, value);
  }

  function send() {
    if (text.value.trim() === '' || isTooLong) return;
    void session.send([content()]);
    setText('');
    replyTo.value = undefined;
    area.current?.focus();
  }

  async function sendFiles(files: readonly File[]) {
    for (const file of files) {
      const name = file.name || 'image';
      preparing.value = name;
      try {
        await session.send(await partsOf(file));
      } catch (error) {
        const isLarge = error instanceof FileTooLarge;
        toast({
          tone: 'bad',
          text: isLarge ? words.fileTooLarge(name, byteSize(MAX_FILE_BYTES)) : words.fileFailed(name),
        });
      }
      preparing.value = undefined;
    }
  }

  const filesOf = (list: FileList | null | undefined) => [...(list ?? [])];

  if (session.isExcluded.value)
    return (
      <Banner icon={KeyRound}>
        <span>
          <strong>{texts.room.excludedTitle}.</strong> {texts.room.excluded}
        </span>
      </Banner>
    );
  return (
    <form
      class={`composer${isDropping.value ? ' dropping' : ''}`}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => {
        event.preventDefault();
        isDropping.value = true;
      }}
      onDragLeave={() => {
        isDropping.value = false;
      }}
      onDrop={(event) => {
        event.preventDefault();
        isDropping.value = false;
        void sendFiles(filesOf(event.dataTransfer?.files));
      }}
    >
      {replyTo.value && <ReplyTo id={replyTo.value} />}
      {isTooLong && (
        <p class="composer-note danger" role="alert">
          {words.tooLong}
        </p>
      )}
      {preparing.value && (
        <p class="composer-note" role="status">
          {words.preparing(preparing.value)}
        </p>
      )}
      {isDropping.value && <p class="composer-note">{words.drop}</p>}
      <div class="composer-row">
        <IconButton icon={Paperclip} label={words.attach} onClick={() => picker.current?.click()} />
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={({ currentTarget }) => {
            void sendFiles(filesOf(currentTarget.files));
            currentTarget.value = '';
          }}
        />
        <div class="growing" data-text={text.value}>
          <textarea
            ref={area}
            rows={1}
            aria-label={words.label}
            placeholder={words.placeholder}
            value={text.value}
            dir="auto"
            onInput={({ currentTarget }) => setText(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Escape') replyTo.value = undefined;
              if (event.key !== 'Enter' || event.shiftKey || !hasKeyboard || isComposing(event)) return;
              event.preventDefault();
              send();
            }}
            onPaste={(event) => {
              const files = filesOf(event.clipboardData?.files);
              if (files.length === 0) return;
              event.preventDefault();
              void sendFiles(files);
            }}
          />
        </div>
        <span class="send">
          <IconButton
            icon={ArrowUp}
            label={words.send}
            type="submit"
            disabled={text.value.trim() === '' || isTooLong}
          />
        </span>
      </div>
    </form>
  );
}

function ReplyTo({ id }: { id: string }) {
  const { session, replyTo } = useRoom();
  const entry = session.conversation.value.entries.find((each) => each.id === id);
  const quoted = entry?.kind === 'text' ? entry.text : entry?.kind === 'file' ? entry.file.head.name : '';
  return (
    <div class="composer-reply">
      <span>
        <strong>{words.replyTo(nameOf(session, entry?.senderId ?? ''))}</strong>
        <span class="quiet">{quoted.slice(0, 200)}</span>
      </span>
      <IconButton
        small
        icon={X}
        label={words.cancelReply}
        onClick={() => {
          replyTo.value = undefined;
        }}
      />
    </div>
  );
}
