/** A message of the chat: sender, time, quoted message and text with links. */
import { Reply } from 'lucide-preact';
import { IconButton } from '../../shared/components/button.js';
import { Time } from '../../shared/components/time.js';
import type { Chat } from '../protocol/messages.js';
import { texts } from '../texts.js';
import { replyTo } from './timeline.js';

const MAX_QUOTE_LENGTH = 80;

/** Sender and beginning of a message. */
export const quoteOf = ({ name, text }: Chat): string =>
  texts.chat.from(name, text.length > MAX_QUOTE_LENGTH ? `${text.slice(0, MAX_QUOTE_LENGTH)}…` : text);

interface MessageLineProps {
  readonly message: Chat;
  readonly quoted: Chat | undefined;
  /** Whether it belongs to the message above, which names the sender. */
  readonly isGrouped: boolean;
}

export const MessageLine = ({ message, quoted, isGrouped }: MessageLineProps) => (
  <li class={isGrouped ? 'message grouped' : 'message'}>
    <div class="head">
      <span class={isGrouped ? 'unseen' : undefined}>
        <strong>
          <bdi>{message.name}</bdi>
        </strong>
        <Time at={message.timestamp} />
      </span>
      <IconButton
        small
        icon={Reply}
        label={texts.chat.replyTo(message.name)}
        onClick={() => {
          replyTo.value = message;
        }}
      />
    </div>
    {quoted && <blockquote>{quoteOf(quoted)}</blockquote>}
    <div class="text">
      <Linked text={message.text} />
    </div>
  </li>
);

/** A web address without the punctuation after it. */
const ADDRESS = /(https?:\/\/[^\s<>"]*[^\s<>".,;:!?')\]}])/u;

const Linked = ({ text }: { text: string }) => (
  <>
    {text.split(ADDRESS).map((part, index) =>
      index % 2 === 1 ? (
        <a key={index} href={part} target="_blank" rel="noopener noreferrer">
          {part}
        </a>
      ) : (
        part
      ),
    )}
  </>
);
