/** Edits an own message in its place; what was typed is kept until it is saved or given up. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../../shared/components/button.js';
import { FormError } from '../../shared/components/form.js';
import { isTouch } from '../../shared/dom.js';
import type { Message } from '../contract.js';
import { texts } from '../texts/workspace.js';
import { useWorkspace } from '../workspace/context.js';
import { editKey } from '../workspace/editing.js';
import { COMPOSER_FIELD } from './composer.js';
import { MentionTextarea } from './mention-textarea.js';

export function MessageEditor({ message }: { message: Message }) {
  const { drafts, actions, editing, overlay } = useWorkspace();
  const key = editKey(message.id);
  const field = useRef<HTMLTextAreaElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const { content } = drafts.of(key).value;

  // Before the next key, which belongs to the text.
  useLayoutEffect(() => {
    if (drafts.of(key).peek().content === '') drafts.change(key, { content: message.content });
    const element = field.current;
    element?.focus();
    requestAnimationFrame(() => element?.setSelectionRange(element.value.length, element.value.length));
  }, []);

  function close() {
    drafts.clear(key);
    editing.value = undefined;
    document.querySelector<HTMLElement>(COMPOSER_FIELD)?.focus();
  }

  async function save() {
    const text = content.trim();
    if (text === message.content) return close();
    if (text === '' && message.images.length + message.attachments.length === 0) {
      overlay.value = { kind: 'delete', message };
      return;
    }
    setBusy(true);
    try {
      await actions.edit(message, { content: text });
      close();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  }

  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Enter' && !event.shiftKey && !isTouch()) {
      event.preventDefault();
      void save();
    } else if (event.key === 'Escape') {
      event.stopPropagation();
      close();
    }
  }

  return (
    <div class="message-editor">
      <MentionTextarea
        field={field}
        value={content}
        label={texts.editMessage}
        placeId={message.channelId}
        onChange={(text) => drafts.change(key, { content: text })}
        onKeyDown={onKeyDown}
      />
      <FormError error={error} />
      <div class="composer-actions">
        <span class="quiet hint">{!isTouch() && texts.editHint}</span>
        <Button small onClick={close}>
          {texts.cancel}
        </Button>
        <Button small variant="main" busy={isBusy} onClick={save}>
          {texts.save}
        </Button>
      </div>
    </div>
  );
}
