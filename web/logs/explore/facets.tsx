/** Values with their counts by level, producer, event and fields: a click filters, another one removes the filter. */
import { useSignal } from '@preact/signals';
import { CircleMinus, X } from 'lucide-preact';
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../../shared/api/http.js';
import { IconButton, Spinner } from '../../shared/components/button.js';
import { Checkbox } from '../../shared/components/form.js';
import { fetchCounts } from '../api/queries.js';
import type { Bucket, Counts } from '../contract.js';
import { addCondition, hasCondition, removeCondition } from '../query/edit.js';
import { type Condition, parseTerms } from '../query/syntax.js';
import { formatCount, texts } from '../texts.js';
import { counted, FACET_VALUES, type Facet, type FacetName, facets } from './counts.js';
import { currentText, editQuery } from './draft.js';
import { fieldNames } from './explorer-state.js';
import { lookedAt } from './fields.js';
import { toneOf } from './levels.js';
import { entries, state } from './results.js';
import { toggleColumn, view } from './view.js';

const SHOWN = 6;
const FIELDS_SHOWN = 12;
/** Each record has another time and mostly another message; level and event have facets of their own. */
const SHOWN_ELSEWHERE = new Set([
  'level',
  'severity',
  'event',
  'message',
  'msg',
  'timestamp',
  'time',
  '@timestamp',
  'ts',
]);
export const MISSING = '(missing)';
/** Longer values cannot be sent to the service. */
export const MAX_VALUE = 1000;

export function Facets() {
  const found = facets.value;
  return (
    <nav class="facets" aria-label={texts.facets.label}>
      <Excluded />
      <FacetOf name="level" facet={found.level} />
      <FacetOf name="producer" facet={found.producer} />
      <FacetOf name="event" facet={found.event} />
      <Fields />
    </nav>
  );
}

/** Excluded values are in no count, so they are listed to be taken back. */
function Excluded() {
  const excluded = parseTerms(currentText()).filter(({ negated, kind }) => negated && kind !== 'word');
  if (excluded.length === 0) return null;
  return (
    <section>
      <h2>{texts.facets.excluded}</h2>
      <ul class="values">
        {excluded.map((term) => (
          <li key={term.start}>
            <span class="value excluded">
              <span class="name">
                {term.name}: {term.value}
              </span>
            </span>
            <IconButton
              small
              icon={X}
              label={texts.facets.undo(term.name, term.value)}
              onClick={() => editQuery((text) => text.slice(0, term.start) + text.slice(term.end))}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

function FacetOf({ name, facet }: { name: FacetName; facet: Facet | undefined }) {
  return (
    <section>
      <h2>{texts.facets[name]}</h2>
      {facet?.error !== undefined && state.value !== 'failed' && <p class="quiet">{messageOf(facet.error)}</p>}
      {facet?.counts ? (
        <Values counts={facet.counts} conditionOf={(value) => ({ kind: name, name, value, negated: false })} />
      ) : (
        facet === undefined && <Spinner />
      )}
    </section>
  );
}

interface ValuesProps {
  readonly counts: Counts;
  readonly conditionOf: (value: string) => Condition;
}

function Values({ counts: { buckets, total }, conditionOf }: ValuesProps) {
  const [isLong, setLong] = useState(false);
  const known = buckets.filter(({ key }) => key.length <= MAX_VALUE);
  if (known.length === 0) return <p class="quiet">{texts.facets.none}</p>;
  return (
    <>
      <ul class="values">
        {known.slice(0, isLong ? known.length : SHOWN).map((bucket) => (
          <Value key={bucket.key} bucket={bucket} total={total} condition={conditionOf(bucket.key)} />
        ))}
      </ul>
      {known.length > SHOWN && (
        <button type="button" class="link" onClick={() => setLong(!isLong)}>
          {isLong ? texts.facets.fewer : texts.facets.more}
        </button>
      )}
      {isLong && buckets.length >= FACET_VALUES && <p class="quiet">{texts.facets.top(FACET_VALUES)}</p>}
    </>
  );
}

function Value({ bucket: { key, count }, total, condition }: { bucket: Bucket; total: number; condition: Condition }) {
  const { kind, name } = condition;
  const isOn = hasCondition(currentText(), condition);
  const share = total > 0 ? Math.min(100, (count / total) * 100) : 0;
  // The service has no filter for records without a value.
  if (key === MISSING)
    return (
      <li>
        <span class="value">
          <span class="name quiet">{texts.facets.missing}</span>
          <span class="count">{formatCount(count)}</span>
        </span>
      </li>
    );
  return (
    <li>
      <button
        type="button"
        class={`value${kind === 'level' ? ` tone ${toneOf(key)}` : ''}`}
        aria-pressed={isOn}
        title={key}
        onClick={() => editQuery((text) => (isOn ? removeCondition(text, condition) : addCondition(text, condition)))}
      >
        <span class="bar" style={{ width: `${share}%` }} />
        <span class="unseen">{name} </span>
        <span class="name">{key}</span>
        <span class="count">{formatCount(count)}</span>
        <span class="unseen">{isOn ? texts.facets.remove : texts.facets.add}</span>
      </button>
      <IconButton
        small
        icon={CircleMinus}
        label={texts.facets.exclude(name, key)}
        onClick={() => editQuery((text) => addCondition(text, { ...condition, negated: true }))}
      />
    </li>
  );
}

function Fields() {
  const [typed, setTyped] = useState('');
  const all = fieldNames.value.filter(({ path }) => !SHOWN_ELSEWHERE.has(path));
  const found = all.filter(({ path }) => path.toLowerCase().includes(typed.toLowerCase()));
  const [isLong, setLong] = useState(false);
  if (all.length === 0) return null;
  return (
    <section>
      <h2>{texts.facets.fields}</h2>
      {all.length > FIELDS_SHOWN && (
        <input
          type="search"
          class="find-field"
          aria-label={texts.facets.searchFields}
          placeholder={texts.facets.searchFields}
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      )}
      {found.slice(0, isLong || typed ? found.length : FIELDS_SHOWN).map(({ path }) => (
        <FieldFacet key={path} path={path} />
      ))}
      {!typed && found.length > FIELDS_SHOWN && (
        <button type="button" class="link" onClick={() => setLong(!isLong)}>
          {isLong ? texts.facets.fewer : texts.facets.more}
        </button>
      )}
      <p class="quiet">{texts.facets.fieldsOf(lookedAt(entries.value))}</p>
    </section>
  );
}

/** Counted when it is opened, and again with each query while it is open. */
function FieldFacet({ path }: { path: string }) {
  const [isOpen, setOpen] = useState(false);
  const facet = useSignal<Facet>({});
  const selection = counted.value;
  useEffect(() => {
    if (!isOpen || !selection) return;
    const controller = new AbortController();
    fetchCounts(selection, { groupBy: 'field', groupField: path }, FACET_VALUES, controller.signal).then(
      (counts) => {
        facet.value = { counts };
      },
      (error: unknown) => {
        if (!controller.signal.aborted) facet.value = { error };
      },
    );
    return () => controller.abort();
  }, [isOpen, selection, path]);
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary title={path}>{path}</summary>
      {isOpen && (
        <>
          <Checkbox
            label={texts.facets.show}
            checked={view.value.columns.includes(path)}
            onChange={() => toggleColumn(path)}
          />
          {facet.value.error !== undefined && <p class="quiet">{messageOf(facet.value.error)}</p>}
          {facet.value.counts ? (
            <Values
              counts={facet.value.counts}
              conditionOf={(value) => ({ kind: 'field', name: path, value, negated: false })}
            />
          ) : (
            facet.value.error === undefined && <Spinner />
          )}
        </>
      )}
    </details>
  );
}
