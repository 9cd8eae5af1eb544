/** An own message on its way, and what can be done when it does not arrive. */
import { CircleAlert, Clock } from 'lucide-preact';
import { Avatar } from '../../shared/components/avatar.js';
import { Button } from '../../shared/components/button.js';
import { Icon } from '../../shared/components/icon.js';
import { Time } from '../../shared/components/time.js';
import { COMPOSER_FIELD } from '../composer/composer.js';
import { MessageFiles } from '../files/message-files.js';
import { type Outgoing, timelineOf } from '../state/outbox.js';
import { texts } from '../texts/workspace.js';
import { useWorkspace } from '../workspace/context.js';
import { MessageText } from './message-text.js';
import { Quote } from './quote.js';

export function OutgoingRow({ outgoing, isFirst }: { outgoing: Outgoing; isFirst: boolean }) {
  const { user, store, sending } = useWorkspace();
  const { key, placeId, threadId, content, writtenAt, quotedMessageId, status, error } = outgoing;
  const name = store.users.value.get(user.id)?.userName ?? user.userName;
  return (
    <article class={`message outgoing${isFirst ? ' first' : ''}`}>
      {isFirst ? <Avatar id={user.id} name={name} /> : <span class="side-time" />}
      <div class="body">
        {isFirst && (
          <header>
            <strong>{name}</strong>
            <Time at={writtenAt} />
          </header>
        )}
        {quotedMessageId !== null && <Quote id={quotedMessageId} placeId={placeId} threadId={threadId} />}
        <MessageText message={{ content, mentions: [], updatedAt: null }} />
        <MessageFiles placeId={placeId} images={outgoing.images} attachments={outgoing.attachments} />
        {error !== undefined && (
          <div class={`delivery ${status}`} role="status">
            <Icon of={status === 'failed' ? CircleAlert : Clock} />
            <span>{status === 'failed' ? texts.notSent(error) : texts.willBeSent(error)}</span>
            <Button small variant="ghost" onClick={() => sending.retry(key)}>
              {texts.sendAgain}
            </Button>
            <ReturnButton outgoing={outgoing} />
            <Button small variant="ghost" onClick={() => sending.discard(key)}>
              {texts.discard}
            </Button>
          </div>
        )}
      </div>
    </article>
  );
}

/** Puts the message back into the composer. */
function ReturnButton({ outgoing }: { outgoing: Outgoing }) {
  const { sending, drafts } = useWorkspace();
  function giveBack() {
    const timeline = timelineOf(outgoing);
    const draft = drafts.of(timeline).peek();
    drafts.set(timeline, {
      content: [outgoing.content, draft.content].filter(Boolean).join('\n'),
      attachments: [...outgoing.attachments, ...draft.attachments],
      images: [...outgoing.images, ...draft.images],
      quotedMessageId: draft.quotedMessageId ?? outgoing.quotedMessageId,
    });
    sending.discard(outgoing.key);
    const fields = document.querySelectorAll<HTMLElement>(COMPOSER_FIELD);
    (outgoing.threadId === undefined ? fields[0] : fields[fields.length - 1])?.focus();
  }
  return (
    <Button small variant="ghost" onClick={giveBack}>
      {texts.edit}
    </Button>
  );
}
