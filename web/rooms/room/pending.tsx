/** Messages and files on their way. */
import { Check, CircleAlert, Clock, RotateCw, Trash2 } from 'lucide-preact';
import { Button } from '../../shared/components/button.js';
import { Icon } from '../../shared/components/icon.js';
import { Time } from '../../shared/components/time.js';
import type { PendingMessage } from '../outbox.js';
import { texts } from '../texts.js';
import { useRoom } from './context.js';
import { Quoted, StateIcon, Text } from './message.js';

const words = texts.message;

const STATES = {
  queued: [Clock, words.queued],
  sending: [Clock, words.sending],
  sent: [Check, words.sent],
  failed: [CircleAlert, words.failed],
} as const;

export function PendingBubble({ message }: { message: PendingMessage }) {
  const { id, at, content, state } = message;
  if (content.kind !== 'text') return null;
  const [icon, label] = STATES[state];
  return (
    <article class={`message own pending ${state}`} aria-label={words.you}>
      <div class="bubble">
        {content.replyTo && <Quoted id={content.replyTo} />}
        <Text text={content.text} />
        <span class="stamp">
          <Time at={at} />
          <StateIcon icon={icon} label={label} />
        </span>
        {state === 'failed' && <FailedActions ids={[id]} />}
      </div>
    </article>
  );
}

function FailedActions({ ids }: { ids: readonly string[] }) {
  const { outbox } = useRoom().session;
  return (
    <span class="failed-actions">
      {words.failed}
      <Button
        small
        icon={RotateCw}
        onClick={() => {
          for (const id of ids) outbox.retry(id);
        }}
      >
        {texts.retry}
      </Button>
      <Button small icon={Trash2} onClick={() => void outbox.discard(ids)}>
        {words.discard}
      </Button>
    </span>
  );
}

/** Others wait for it: those whom it leaves out could read them. */
export const FailedRotation = ({ id }: { id: string }) => (
  <p class="timeline-event fault" role="alert">
    <Icon of={CircleAlert} />
    {texts.room.rotationFailed}
    <FailedActions ids={[id]} />
  </p>
);

/** Until its first part has arrived; then the conversation shows it with its progress. */
export function PendingFile({ fileId, parts }: { fileId: string; parts: readonly PendingMessage[] }) {
  const own = parts.flatMap(({ id, state, content }) =>
    content.kind === 'part' && content.fileId === fileId ? [{ id, state, content }] : [],
  );
  const head = own.find(({ content }) => content.file)?.content.file;
  const failed = own.filter(({ state }) => state === 'failed').map(({ id }) => id);
  const total = own[0]?.content.parts ?? 1;
  const waiting = own.filter(({ state }) => state !== 'sent').length;
  if (!head && failed.length === 0) return null;
  return (
    <article class="message own pending" aria-label={words.you}>
      <div class="bubble">
        {head && <strong class="file-name">{head.name}</strong>}
        <span class="stamp">{words.sendingParts(total - waiting, total)}</span>
        {failed.length > 0 && <FailedActions ids={failed} />}
      </div>
    </article>
  );
}
