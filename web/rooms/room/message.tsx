/** A message as a bubble, with what can be done with it. Arrow keys on an action go from message to message. */
import { BadgeCheck, Check, Copy, CornerUpLeft, ShieldAlert } from 'lucide-preact';
import { Avatar } from '../../shared/components/avatar.js';
import { IconButton } from '../../shared/components/button.js';
import { copyText } from '../../shared/components/copy-button.js';
import { Icon, type IconType } from '../../shared/components/icon.js';
import { Time } from '../../shared/components/time.js';
import { toast } from '../../shared/components/toasts.js';
import type { Entry } from '../conversation.js';
import { piecesOf } from '../format.js';
import { texts } from '../texts.js';
import { nameOf, useRoom } from './context.js';
import { FileView } from './file.js';

const words = texts.message;

type MessageEntry = Extract<Entry, { kind: 'text' | 'file' }>;

interface BubbleProps {
  readonly entry: MessageEntry;
  readonly isContinued: boolean;
  readonly isLast: boolean;
}

export function MessageBubble({ entry, isContinued, isLast }: BubbleProps) {
  const { session, activeMessage } = useRoom();
  const { id, senderId, at } = entry;
  const isOwn = senderId === session.ownId;
  const name = nameOf(session, senderId);
  const isInTabOrder = activeMessage.value === undefined ? isLast : activeMessage.value === id;
  const classes = ['message', isOwn && 'own', isContinued && 'continued'].filter(Boolean).join(' ');
  return (
    <article
      class={classes}
      aria-label={name}
      onFocus={() => {
        activeMessage.value = id;
      }}
      onKeyDown={moveFocus}
    >
      {!isOwn && (isContinued ? <span class="avatar-space" /> : <Avatar id={senderId} name={name} />)}
      <div class="bubble">
        {!isOwn && !isContinued && <Sender id={senderId} name={name} />}
        {entry.kind === 'text' && entry.replyTo && <Quoted id={entry.replyTo} />}
        {entry.kind === 'text' ? <Text text={entry.text} /> : <FileView file={entry.file} />}
        <span class="stamp">
          <Time at={at} />
          {isOwn && <StateIcon icon={Check} label={words.sent} />}
        </span>
      </div>
      <Actions entry={entry} isInTabOrder={isInTabOrder} />
    </article>
  );
}

function Sender({ id, name }: { id: string; name: string }) {
  const verification = useRoom().session.roster.verificationOf(id);
  return (
    <strong class={`sender ${verification}`} dir="auto">
      {name}
      {verification === 'verified' && <StateIcon icon={BadgeCheck} label={texts.people.verified} />}
      {verification === 'changed' && <StateIcon icon={ShieldAlert} label={texts.people.verification.changed} />}
    </strong>
  );
}

function Actions({ entry, isInTabOrder }: { entry: MessageEntry; isInTabOrder: boolean }) {
  const { session, replyTo } = useRoom();
  const tabIndex = isInTabOrder ? 0 : -1;
  const copy = (text: string) =>
    copyText(text).then(
      () => toast({ text: texts.copied }),
      () => toast({ text: texts.copyFailed, tone: 'bad' }),
    );
  return (
    <div class="message-actions">
      <IconButton
        small
        icon={CornerUpLeft}
        label={words.reply}
        tabIndex={tabIndex}
        disabled={session.isExcluded.value}
        onClick={() => {
          replyTo.value = entry.id;
        }}
      />
      {entry.kind === 'text' && (
        <IconButton small icon={Copy} label={words.copyText} tabIndex={tabIndex} onClick={() => copy(entry.text)} />
      )}
    </div>
  );
}

const STEPS: { readonly [key: string]: number } = { ArrowUp: -1, ArrowDown: 1 };

/** To the same action of the next message in the direction of the arrow key. */
function moveFocus(event: KeyboardEvent) {
  const step = STEPS[event.key];
  const target = event.target as HTMLElement;
  if (!step || !target.matches('.message-actions button')) return;
  event.preventDefault();
  const articles = [...document.querySelectorAll('.message:not(.pending)')];
  const next = articles[articles.indexOf(event.currentTarget as Element) + step];
  next?.querySelector<HTMLElement>('.message-actions button')?.focus();
}

export function StateIcon({ icon, label }: { icon: IconType; label: string }) {
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
        if (piece.kind === 'block')
          return (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll by keyboard
            <pre key={index} tabIndex={0}>
              {piece.text}
            </pre>
          );
        if (piece.kind === 'code') return <code key={index}>{piece.text}</code>;
        if (piece.kind === 'strong') return <strong key={index}>{piece.text}</strong>;
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
  const { session, list } = useRoom();
  const entry = session.conversation.value.entries.find((each) => each.id === id);
  if (entry?.kind !== 'text' && entry?.kind !== 'file') return <span class="quoted quiet">{words.replyGone}</span>;
  const shown = entry.kind === 'text' ? entry.text.slice(0, QUOTED_LENGTH) : entry.file.head.name;
  return (
    <button type="button" class="quoted" onClick={() => list.value?.scrollTo(id, 'center')}>
      <strong>{nameOf(session, entry.senderId)}</strong>
      <span>{shown}</span>
    </button>
  );
}
