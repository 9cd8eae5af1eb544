/** A message in a list of found or pinned ones, which opens in its place. */
import { Avatar } from '../../shared/components/avatar.js';
import { dayTitle, Time } from '../../shared/components/time.js';
import type { SearchResult } from '../contract.js';
import { nameOf } from '../state/chat-state.js';
import { plainText } from '../state/format.js';
import { texts } from '../texts/workspace.js';
import { useWorkspace } from '../workspace/context.js';
import { Marked } from './marked.js';

interface MessageCardProps {
  readonly message: SearchResult;
  /** Where it is, if that is not clear. */
  readonly place?: string | undefined;
  /** Said below the text. */
  readonly note?: string | undefined;
  /** Words to mark. */
  readonly words?: readonly string[];
  readonly onOpen: () => void;
}

const MAX_LENGTH = 400;

export function MessageCard({ message, place, note, words = [], onOpen }: MessageCardProps) {
  const { store } = useWorkspace();
  const { author, createdAt, content, threadId } = message;
  const name = nameOf(store.users.value, author);
  const text = plainText(content) || texts.sentFile;
  return (
    <button type="button" class="message-card" onClick={onOpen}>
      <Avatar small id={author.id} name={name} />
      <span class="card-head">
        <strong>{name}</strong>
        {place !== undefined && <span class="quiet">{place}</span>}
        {threadId !== undefined && <span class="tag">{texts.reply}</span>}
        <span class="quiet">
          {dayTitle(createdAt)} <Time at={createdAt} />
        </span>
      </span>
      <span class="card-text">
        <Marked text={text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text} words={words} />
      </span>
      {note !== undefined && <span class="card-note quiet">{note}</span>}
    </button>
  );
}
