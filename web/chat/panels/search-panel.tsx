/** Search over all messages the user can see, with filters; a result opens in its place. */
import { SearchX } from 'lucide-preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { Button, Spinner } from '../../shared/components/button.js';
import { SelectField, TextField } from '../../shared/components/form.js';
import { Empty, Failed } from '../../shared/components/states.js';
import type { SearchResult } from '../contract.js';
import { isDirect, sortedChannels, sortedConversations } from '../state/chat-state.js';
import { texts } from '../texts/workspace.js';
import { placeName } from '../timeline/place-view.js';
import { useWorkspace } from '../workspace/context.js';
import { show, showFrom } from '../workspace/view.js';
import { MessageCard } from './message-card.js';
import { PanelFrame } from './panel.js';

const PAUSE_MS = 250;
const PAGE = 50;

interface Filters {
  readonly place: string;
  readonly author: string;
  /** `2026-11-27` */
  readonly from: string;
  readonly to: string;
}

const NO_FILTERS: Filters = { place: '', author: '', from: '', to: '' };

const dayStart = (day: string, days = 0): number | undefined => {
  if (!day) return undefined;
  const date = new Date(`${day}T00:00:00`);
  date.setDate(date.getDate() + days);
  return date.getTime();
};

interface Results {
  readonly messages: readonly SearchResult[];
  readonly words: readonly string[];
  readonly isFull: boolean;
}

export function SearchPanel({ placeId, text }: { placeId: string | undefined; text: string }) {
  const { actions } = useWorkspace();
  const [typed, setTyped] = useState(text);
  const [filters, setFilters] = useState(NO_FILTERS);
  const [limit, setLimit] = useState(PAGE);
  const [results, setResults] = useState<Results>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const field = useRef<HTMLDivElement>(null);
  const q = typed.trim();

  useEffect(() => field.current?.querySelector('input')?.focus(), []);
  useEffect(() => setLimit(PAGE), [q, filters]);
  useEffect(() => {
    setError(undefined);
    if (q === '') {
      setResults(undefined);
      return;
    }
    const abort = new AbortController();
    const timer = setTimeout(() => void search(abort.signal), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [q, filters, limit, attempt]);

  async function search(signal: AbortSignal) {
    setBusy(true);
    const { place, author, from, to } = filters;
    const end = dayStart(to, 1);
    const query = {
      ...(place && { [isDirect(place) ? 'conversationId' : 'channelId']: place }),
      authorId: author || undefined,
      from: dayStart(from),
      to: end === undefined ? undefined : end - 1,
      limit,
    };
    try {
      const messages = await actions.search(q, query, signal);
      setResults({ messages, words: q.split(/\s+/), isFull: messages.length === limit });
    } catch (failure) {
      if (!signal.aborted) setError(failure);
    } finally {
      if (!signal.aborted) setBusy(false);
    }
  }

  return (
    <PanelFrame title={texts.search}>
      <div class="panel-content search">
        <div ref={field} class="search-words">
          <TextField
            label={texts.searchLabel}
            type="search"
            value={typed}
            placeholder={texts.searchPlaceholder}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </div>
        <FilterFields filters={filters} placeId={placeId} onChange={setFilters} />
        <div class="search-status quiet" role="status">
          {isBusy ? <Spinner /> : results && texts.found(results.messages.length, results.isFull)}
        </div>
        {error !== undefined && <Failed error={messageOf(error)} retry={() => setAttempt(attempt + 1)} />}
        {results && error === undefined && <ResultList results={results} text={typed} />}
        {results?.isFull && (
          <Button small onClick={() => setLimit(limit + PAGE)}>
            {texts.showMore}
          </Button>
        )}
        {!results && !isBusy && error === undefined && <p class="quiet panel-note">{texts.searchHint}</p>}
      </div>
    </PanelFrame>
  );
}

function ResultList({ results: { messages, words }, text }: { results: Results; text: string }) {
  const workspace = useWorkspace();
  if (messages.length === 0)
    return (
      <Empty icon={SearchX} title={texts.nothingFound}>
        <span>{texts.nothingFoundHint}</span>
      </Empty>
    );
  function open({ id, channelId, threadId }: SearchResult) {
    if (threadId !== undefined)
      show(channelId, { panel: { kind: 'thread', parentId: threadId }, at: threadId, replyAt: id });
    else showFrom({ kind: 'search', text }, channelId, id);
  }
  return (
    <>
      {messages.map((message) => {
        const name = placeName(workspace, message.channelId) ?? '';
        return (
          <MessageCard
            key={message.id}
            message={message}
            words={words}
            place={isDirect(message.channelId) ? texts.withPerson(name) : `#${name}`}
            onOpen={() => open(message)}
          />
        );
      })}
    </>
  );
}

interface FilterFieldsProps {
  readonly filters: Filters;
  readonly placeId: string | undefined;
  readonly onChange: (filters: Filters) => void;
}

function FilterFields({ filters, placeId, onChange }: FilterFieldsProps) {
  const workspace = useWorkspace();
  const { users, channels, conversations } = workspace.store;
  const set = (name: keyof Filters) => (event: { readonly currentTarget: { readonly value: string } }) =>
    onChange({ ...filters, [name]: event.currentTarget.value });
  const people = [...users.value.values()].sort((a, b) => a.userName.localeCompare(b.userName));
  const current = placeId === undefined ? undefined : placeName(workspace, placeId);
  return (
    <div class="search-filters">
      <SelectField label={texts.filterPlace} value={filters.place} onChange={set('place')}>
        <option value="">{texts.anywhere}</option>
        {placeId !== undefined && current !== undefined && <option value={placeId}>{texts.hereOption(current)}</option>}
        {sortedChannels(channels.value).map(({ id, name }) => id !== placeId && <option value={id}>#{name}</option>)}
        {sortedConversations(conversations.value).map(
          ({ id, otherUser }) => id !== placeId && <option value={id}>{texts.withPerson(otherUser.userName)}</option>,
        )}
      </SelectField>
      <SelectField label={texts.filterAuthor} value={filters.author} onChange={set('author')}>
        <option value="">{texts.anyone}</option>
        {people.map(({ id, userName }) => (
          <option key={id} value={id}>
            {userName}
          </option>
        ))}
      </SelectField>
      <TextField label={texts.filterFrom} type="date" value={filters.from} onInput={set('from')} />
      <TextField label={texts.filterTo} type="date" value={filters.to} onInput={set('to')} />
    </div>
  );
}
