/** An opened record: formatted JSON, and what can be done with it and with each of its values. */
import { CircleMinus, CirclePlus, Copy, Link, Rows3 } from 'lucide-preact';
import { useMemo, useState } from 'preact/hooks';
import { Button, IconButton } from '../../shared/components/button.js';
import { fullTime } from '../../shared/components/time.js';
import { stringifyExact } from '../api/exact-json.js';
import { entryTime } from '../api/queries.js';
import type { Entry } from '../contract.js';
import { editQuery } from '../explore/draft.js';
import { MAX_VALUE } from '../explore/facets.js';
import { shareAddress, view } from '../explore/view.js';
import { addCondition } from '../query/edit.js';
import type { Condition } from '../query/syntax.js';
import { texts } from '../texts.js';
import { preciseTime } from '../time/range.js';
import { showAround } from './around-state.js';
import { copy } from './copy.js';
import { type JsonLine, jsonLines } from './json-lines.js';

/** Lines shown at first of a large record. */
const LINES_SHOWN = 200;

export const recordJson = ({ data }: Entry): string => stringifyExact(data, 2);

export function RecordDetails({ entry }: { entry: Entry }) {
  const { producerId, correlationId } = entry;
  const at = entryTime(entry);
  return (
    <div class="record-details">
      <div class="record-actions">
        <span class="quiet">
          {fullTime(at)} <span class="tag">{preciseTime(at)}</span>
        </span>
        <span class="spacer" />
        <Button small icon={Copy} onClick={() => copy(recordJson(entry))}>
          {texts.record.copyJson}
        </Button>
        <Button small icon={Link} onClick={() => copy(recordAddress(entry), texts.results.linkCopied)}>
          {texts.record.copyLink}
        </Button>
        <Button small icon={Rows3} onClick={() => showAround(entry)}>
          {texts.record.around}
        </Button>
      </div>
      <dl class="record-facts">
        <Fact kind="producer" label={texts.record.producer} value={producerId} />
        {correlationId !== null && (
          <Fact kind="correlation" label={texts.record.correlation} value={correlationId} canExclude={false} />
        )}
      </dl>
      <JsonView entry={entry} />
    </div>
  );
}

/** Address that shows the record, among others of the same instant. */
function recordAddress(entry: Entry): string {
  const at = entryTime(entry);
  return shareAddress({ ...view.value, range: { kind: 'absolute', from: at, to: at } });
}

interface FactProps {
  readonly kind: 'producer' | 'correlation';
  readonly label: string;
  readonly value: string;
  readonly canExclude?: boolean;
}

const Fact = ({ kind, label, value, canExclude = true }: FactProps) => (
  <div>
    <dt>{label}</dt>
    <dd>
      <span class="fact">{value}</span>
      <ValueActions condition={{ kind, name: kind, value, negated: false }} canExclude={canExclude} />
    </dd>
  </div>
);

function ValueActions({ condition, canExclude = true }: { condition: Condition; canExclude?: boolean }) {
  const { name, value } = condition;
  const isTooLong = value.length > MAX_VALUE;
  return (
    <span class="value-actions">
      <IconButton
        small
        icon={CirclePlus}
        label={isTooLong ? texts.record.tooLong : texts.record.filter(name, short(value))}
        disabled={isTooLong}
        onClick={() => editQuery((text) => addCondition(text, condition))}
      />
      {canExclude && (
        <IconButton
          small
          icon={CircleMinus}
          label={isTooLong ? texts.record.tooLong : texts.record.exclude(name, short(value))}
          disabled={isTooLong}
          onClick={() => editQuery((text) => addCondition(text, { ...condition, negated: true }))}
        />
      )}
      <IconButton small icon={Copy} label={texts.record.copyValue(name)} onClick={() => copy(value)} />
    </span>
  );
}

const short = (value: string) => (value.length > 60 ? `${value.slice(0, 60)}…` : value);

function JsonView({ entry }: { entry: Entry }) {
  const lines = useMemo(() => jsonLines(entry.data), [entry]);
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? lines : lines.slice(0, LINES_SHOWN);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="json" aria-label={texts.record.details} tabIndex={0}>
        {shown.map((line) => (
          <Line key={line.key} line={line} />
        ))}
      </section>
      {shown.length < lines.length && (
        <Button small onClick={() => setWhole(true)}>
          {texts.record.showAll(lines.length)}
        </Button>
      )}
    </>
  );
}

function Line({ line: { indent, name, text, block, kind, leaf, comma } }: { line: JsonLine }) {
  return (
    <div class="json-line" style={{ paddingInlineStart: `${indent * 1.25}rem` }}>
      {name !== undefined && <span class="json-name">{JSON.stringify(name)}: </span>}
      {block === undefined ? (
        <span class={`json-${kind}`}>{text}</span>
      ) : (
        <span class="json-string json-block">{block}</span>
      )}
      {comma && ','}
      {leaf && leaf.path !== '' && <ValueActions condition={conditionOf(leaf)} />}
    </div>
  );
}

/** Levels and events are compared as the service names them; everything else is a field. */
function conditionOf({ path, value }: { path: string; value: string }): Condition {
  if (path === 'event' && value !== '') return { kind: 'event', name: path, value, negated: false };
  if (path === 'level' && /^[a-z]+$/i.test(value))
    return { kind: 'level', name: path, value: value.toUpperCase(), negated: false };
  return { kind: 'field', name: path, value, negated: false };
}
