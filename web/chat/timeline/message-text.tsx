/** The content of a message with its marks. */
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Message, User } from '../contract.js';
import type { ById } from '../state/chat-state.js';
import { type Block, type MentionNames, parseContent, type Span } from '../state/format.js';
import { useWorkspace } from '../workspace/context.js';

/** Lower-case names of those that a message mentions. */
export function mentionNames(users: ById<User>, mentions: readonly string[]): MentionNames {
  const names = new Map<string, string>();
  for (const id of mentions) {
    const name = id.startsWith('@') ? id.slice(1) : users.get(id)?.userName;
    if (name !== undefined) names.set(name.toLowerCase(), id);
  }
  return names;
}

type Content = Pick<Message, 'content' | 'mentions' | 'updatedAt'>;

interface MessageTextProps {
  readonly message: Content;
  /** Shown after the text, for example that it was edited. */
  readonly children?: ComponentChildren;
}

export function MessageText({ message, children }: MessageTextProps) {
  const { store, user } = useWorkspace();
  const { content, mentions } = message;
  const users = store.users.value;
  const blocks = useMemo(
    () => parseContent(content, mentionNames(users, mentions)),
    [content, mentions, mentions.length > 0 && users],
  );
  return (
    <div class="message-text">
      {blocks.map((block, index) => (
        <BlockView key={index} block={block} userId={user.id}>
          {index === blocks.length - 1 && children}
        </BlockView>
      ))}
      {blocks.length === 0 && children}
    </div>
  );
}

function BlockView({ block, userId, children }: { block: Block; userId: string; children: ComponentChildren }) {
  if (block.kind === 'code')
    return (
      <>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keyboard */}
        <pre tabIndex={0}>
          <code>{block.text}</code>
        </pre>
        {children}
      </>
    );
  const spans = block.spans.map((span, index) => <SpanView key={index} span={span} userId={userId} />);
  return block.kind === 'quote' ? (
    <blockquote>
      {spans}
      {children}
    </blockquote>
  ) : (
    <p>
      {spans}
      {children}
    </p>
  );
}

function SpanView({ span, userId }: { span: Span; userId: string }) {
  switch (span.kind) {
    case 'text':
      return <>{span.text}</>;
    case 'code':
      return <code>{span.text}</code>;
    case 'link':
      return (
        <a href={span.href} target="_blank" rel="noopener noreferrer">
          {span.text}
        </a>
      );
    case 'mention':
      return <span class={`mention${span.id === userId || span.id.startsWith('@') ? ' own' : ''}`}>{span.text}</span>;
    default: {
      const inner = span.spans.map((each, index) => <SpanView key={index} span={each} userId={userId} />);
      if (span.kind === 'strong') return <strong>{inner}</strong>;
      return span.kind === 'emphasis' ? <em>{inner}</em> : <s>{inner}</s>;
    }
  }
}
