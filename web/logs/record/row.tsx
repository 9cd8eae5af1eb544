/** A record as a row: time, level, producer, event and message. */
import { preciseTime } from '../../shared/components/time.js';
import { entryTime } from '../api/queries.js';
import type { Entry } from '../contract.js';
import { valuesAt } from '../explore/fields.js';
import { toneOf } from '../explore/levels.js';
import { view } from '../explore/view.js';
import { localDate } from '../time/range.js';

interface RowProps {
  readonly entry: Entry;
  readonly isOpen: boolean;
  readonly showDate: boolean;
  readonly tabIndex?: number;
  readonly onClick: () => void;
  readonly onFocus?: () => void;
}

/** Longer messages are shown in full when the row is opened. */
const MAX_SHOWN = 2000;

export function Row({ entry, isOpen, showDate, tabIndex = 0, onClick, onFocus = () => {} }: RowProps) {
  const { level, event, message, producerId, timestamp } = entry;
  const at = entryTime(entry);
  const tone = toneOf(level);
  return (
    <button
      type="button"
      class={`record-row tone ${tone}`}
      aria-expanded={isOpen}
      tabIndex={tabIndex}
      onClick={onClick}
      onFocus={onFocus}
    >
      <time dateTime={timestamp}>
        {showDate && <span class="date">{localDate(at)} </span>}
        {preciseTime(at)}
      </time>
      <span class="level">{level}</span>
      <span class="producer">{producerId}</span>
      <span class="message">
        {event !== null && event !== message && <span class="event">{event} </span>}
        {view.value.columns.map((path) => (
          <ShownField key={path} entry={entry} path={path} />
        ))}
        {message.slice(0, MAX_SHOWN)}
      </span>
    </button>
  );
}

const MAX_SHOWN_VALUE = 120;

function ShownField({ entry: { data }, path }: { entry: Entry; path: string }) {
  const values = valuesAt(data, path);
  if (values.length === 0) return null;
  return (
    <>
      <span class="shown-field">
        <span class="quiet">{path}:</span>
        {values.join(', ').slice(0, MAX_SHOWN_VALUE)}
      </span>{' '}
    </>
  );
}
