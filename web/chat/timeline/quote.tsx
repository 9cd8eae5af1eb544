/** The message that another one quotes, with a jump to it. */
import { Reply } from 'lucide-preact';
import { Icon } from '../../shared/components/icon.js';
import { nameOf } from '../state/chat-state.js';
import { plainText } from '../state/format.js';
import { texts } from '../texts/workspace.js';
import { useWorkspace } from '../workspace/context.js';
import { show } from '../workspace/view.js';

interface QuoteProps {
  readonly id: string;
  readonly placeId: string;
  /** Of the thread in which it is quoted. */
  readonly threadId?: string | undefined;
}

export function Quote({ id, placeId, threadId }: QuoteProps) {
  const { quotes, store } = useWorkspace();
  const quote = quotes.of(id, threadId === undefined ? [placeId] : [threadId, placeId]);
  if (quote === undefined) return <div class="quoted quiet">{texts.loadingQuote}</div>;
  if (quote === 'gone') return <div class="quoted quiet">{texts.quoteDeleted}</div>;
  const text = plainText(quote.content) || texts.sentFile;
  function jump() {
    const parentId = quote !== 'gone' && quote && 'threadId' in quote ? (quote.threadId as string) : undefined;
    show(placeId, parentId ? { panel: { kind: 'thread', parentId }, replyAt: id } : { at: id });
  }
  return (
    <button type="button" class="quoted" onClick={jump} title={texts.jumpToQuote}>
      <Icon of={Reply} />
      <strong>{nameOf(store.users.value, quote.author)}</strong>
      <span>{text}</span>
    </button>
  );
}
