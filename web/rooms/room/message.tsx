/** A message as a bubble, sent or on its way. */
import { Check, CircleAlert, Clock, Copy, CornerUpLeft, RotateCw, Trash2 } from 'lucide-preact';
import { Avatar } from '../../shared/components/avatar.js';
import { Button, IconButton } from '../../shared/components/button.js';
import { Icon } from '../../shared/components/icon.js';
import { Time } from '../../shared/components/time.js';
import { toast } from '../../shared/components/toasts.js';
import type { Entry } from '../conversation.js';
import { piecesOf } from '../format.js';
import type { PendingMessage } from '../outbox.js';
import { texts } from '../texts.js';
import { nameOf, useRoom } from './context.js';
import { FileView } from './file.js';

const words = texts.message;

type MessageEntry = Extract<Entry, { kind: 'text' | 'file' }>;

export function MessageBubble({ entry, isContinued }: { entry: MessageEntry; isContinued: boolean }) {
  const { session, replyTo } = useRoom();
  const { senderId, at } = entry;
  const isOwn = senderId === session.ownId;
  const name = nameOf(session, senderId);
  const classes = ['message', isOwn && 'own', isContinued && 'continued'].filter(Boolean).join(' ');
  return (
    <article class={classes} aria-label={name} id={`message-${entry.id}`}>
      {!isOwn && (isContinued ? <span class="avatar-space" /> : <Avatar id={senderId} name={name} />)}
      <div class="bubble">
        {!isOwn && !isContinued && <strong class="sender">{name}</strong>}
        {entry.kind === 'text' && entry.replyTo && <Quoted id={entry.replyTo} />}
        {entry.kind === 'text' ? <Text text={entry.text} /> : <FileView file={entry.file} />}
        <span class="stamp">
          <Time at={at} />
          {isOwn && <State icon={Check} label={words.sent} />}
        </span>
      </div>
      <div class="message-actions">
        <IconButton
          small
          icon={CornerUpLeft}
          label={words.reply}
          onClick={() => {
            replyTo.value = entry.id;
          }}
        />
        {entry.kind === 'text' && (
          <IconButton small icon={Copy} label={words.copyText} onClick={() => copyText(entry.text)} />
        )}
      </div>
    </article>
  );
}

export async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text).then(
    () => toast({ text: texts.copied }),
    () => toast({ text: texts.copyFailed, tone: 'bad' }),
  );
}

function State({ icon, label }: { icon: typeof Check; label: string }) {
  return (
    <span title={label}>
      <Icon of={icon} />
      <span class="unseen">{label}</span>
    </span>
  );
}

export function Text({ text }: { text: string }) {
  return (
    <div class="text" dir="auto">
      {piecesOf(text).map((piece, index) => {
        if (piece.kind === 'block') return <pre key={index}>{piece.text}</pre>;
        if (piece.kind === 'code') return <code key={index}>{piece.text}</code>;
        if (piece.kind === 'link')
          return (
            <a key={index} href={piece.href} target="_blank" rel="noopener noreferrer">
              {piece.text}
            </a>
          );
        return <span key={index}>{piece.text}</span>;
      })}
    </div>
  );
}

const QUOTED_LENGTH = 140;

/** One line of the message that is replied to; leads to it. */
export function Quoted({ id }: { id: string }) {
  const { session } = useRoom();
  const entry = session.conversation.value.entries.find((each) => each.id === id);
  if (entry?.kind !== 'text' && entry?.kind !== 'file') return <span class="quoted quiet">{words.replyGone}</span>;
  const shown = entry.kind === 'text' ? entry.text.slice(0, QUOTED_LENGTH) : entry.file.head.name;
  const show = () => document.getElementById(`message-${id}`)?.scrollIntoView({ block: 'center' });
  return (
    <button type="button" class="quoted" onClick={show}>
      <strong>{nameOf(session, entry.senderId)}</strong>
      <span>{shown}</span>
    </button>
  );
}

const STATES = {
  queued: [Clock, words.queued],
  sending: [Clock, words.sending],
  sent: [Check, words.sent],
  failed: [CircleAlert, words.failed],
} as const;

export function PendingBubble({ message }: { message: PendingMessage }) {
  const { session } = useRoom();
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
          <State icon={icon} label={label} />
        </span>
        {state === 'failed' && <FailedActions ids={[id]} outbox={session.outbox} />}
      </div>
    </article>
  );
}

function FailedActions({
  ids,
  outbox,
}: {
  ids: readonly string[];
  outbox: ReturnType<typeof useRoom>['session']['outbox'];
}) {
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

export function PendingFile({ fileId, parts }: { fileId: string; parts: readonly PendingMessage[] }) {
  const { session } = useRoom();
  const own = parts.filter(({ content }) => content.kind === 'part' && content.fileId === fileId);
  const first = own[0]?.content;
  if (first?.kind !== 'part') return null;
  // The conversation shows the first part, and the progress, once it has arrived.
  const head = own.flatMap(({ content }) => (content.kind === 'part' && content.file ? [content.file] : []))[0];
  const failed = own.filter(({ state }) => state === 'failed').map(({ id }) => id);
  if (!head && failed.length === 0) return null;
  const waiting = own.filter(({ state }) => state !== 'sent').length;
  return (
    <article class="message own pending" aria-label={words.you}>
      <div class="bubble">
        {head && <strong class="file-name">{head.name}</strong>}
        <span class="stamp">{words.sendingParts(first.parts - waiting, first.parts)}</span>
        {failed.length > 0 && <FailedActions ids={failed} outbox={session.outbox} />}
      </div>
    </article>
  );
}
