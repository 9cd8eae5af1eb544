/** Browses the event log, the newest first; the filter is in the address. */
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { Button } from '../../shared/components/button.js';
import { SelectField, TextField } from '../../shared/components/form.js';
import { Empty, Failed, Loading } from '../../shared/components/states.js';
import { href, navigate, route } from '../../shared/route.js';
import { useLoad } from '../../shared/use-load.js';
import type { EventHeader, EventPage, NodeDescription } from '../contract.js';
import { get, http } from '../session.js';
import { texts } from '../texts.js';
import { EventRow } from './event-row.js';

const FIELDS = ['service', 'type', 'stream'] as const;

type Filter = { readonly [field in (typeof FIELDS)[number]]?: string };

const filterOf = (query: URLSearchParams): Filter =>
  Object.fromEntries(FIELDS.flatMap((field) => (query.get(field) ? [[field, query.get(field)]] : [])));

export const filterHref = (filter: Filter): string => href(['events'], filter as { [name: string]: string });

export function Events() {
  const filter = filterOf(route().query);
  const key = JSON.stringify(filter);
  const { events, scanned, next, error, isLoading, load } = useEventPages(filter, key);
  return (
    <div class="view">
      <FilterForm key={key} filter={filter} reload={() => void load()} />
      {events.length > 0 && (
        <ul class="plain card events" aria-label={texts.events.list}>
          {events.map((event) => (
            <EventRow key={event.position} event={event} />
          ))}
        </ul>
      )}
      {isLoading && events.length === 0 && <Loading label={texts.events.loading} />}
      {error !== undefined && <Failed error={messageOf(error)} retry={() => void load(next)} />}
      {!isLoading && error === undefined && events.length === 0 && (
        <Empty title={texts.events.none}>{texts.events.scanned(scanned)}</Empty>
      )}
      {next !== undefined && (events.length > 0 || !isLoading) && (
        <p class="more">
          <Button busy={isLoading} onClick={() => void load(next)}>
            {texts.events.older}
          </Button>
          <span class="quiet">{texts.events.scanned(scanned)}</span>
        </p>
      )}
    </div>
  );
}

interface Pages {
  readonly events: readonly EventHeader[];
  readonly scanned: number;
  readonly next: string | undefined;
  readonly error: unknown;
  readonly isLoading: boolean;
}

const EMPTY: Pages = { events: [], scanned: 0, next: undefined, error: undefined, isLoading: true };

/** Pages are appended; another filter, or a load without `before`, starts again. */
function useEventPages(filter: Filter, key: string) {
  const [pages, setPages] = useState(EMPTY);
  const [loading, setLoading] = useState<AbortController>();

  async function load(before?: string) {
    loading?.abort();
    const controller = new AbortController();
    setLoading(controller);
    setPages((known) => (before === undefined ? EMPTY : { ...known, isLoading: true, error: undefined }));
    try {
      const { signal } = controller;
      const page = await http.json<EventPage>('GET', 'events', { query: { ...filter, before }, signal });
      if (signal.aborted) return;
      setPages((known) => ({
        events: [...known.events, ...page.events],
        scanned: known.scanned + page.scanned,
        next: page.next,
        error: undefined,
        isLoading: false,
      }));
    } catch (error) {
      if (!controller.signal.aborted) setPages((known) => ({ ...known, error, isLoading: false }));
    }
  }

  useEffect(() => void load(), [key]);
  return { ...pages, load };
}

function FilterForm({ filter, reload }: { filter: Filter; reload: () => void }) {
  const node = useLoad((signal) => get<NodeDescription>('node', signal));
  const [service, setService] = useState(filter.service ?? '');
  const types = node.value?.eventTypes ?? {};
  const names = [...new Set(service === '' ? Object.values(types).flat() : types[service])].sort();

  function submit(event: SubmitEvent) {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    const entries = FIELDS.map((field) => [field, String(values.get(field) ?? '').trim()] as const);
    const to = filterHref(Object.fromEntries(entries.filter(([, value]) => value !== '')));
    if (to === location.hash) reload();
    else navigate(to);
  }
  return (
    <form class="filters" onSubmit={submit}>
      <SelectField
        label={texts.events.service}
        name="service"
        value={service}
        onChange={({ currentTarget }) => setService(currentTarget.value)}
      >
        <option value="">{texts.events.any}</option>
        {[...new Set([...Object.keys(types), ...(filter.service ? [filter.service] : [])])].map((name) => (
          <option key={name}>{name}</option>
        ))}
      </SelectField>
      <TextField label={texts.events.type} name="type" list="event-types" defaultValue={filter.type ?? ''} />
      <datalist id="event-types">
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <TextField label={texts.events.stream} name="stream" spellcheck={false} defaultValue={filter.stream ?? ''} />
      <Button variant="main" type="submit">
        {texts.events.show}
      </Button>
    </form>
  );
}
