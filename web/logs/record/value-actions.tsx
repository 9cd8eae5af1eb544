/** What can be done with a value: filter by it, exclude it, show its field in all rows, copy it. */
import { CircleMinus, CirclePlus, Copy, Pin } from 'lucide-preact';
import { IconButton } from '../../shared/components/button.js';
import { editQuery } from '../explore/draft.js';
import { MAX_VALUE } from '../explore/facets.js';
import { toggleColumn, view } from '../explore/view.js';
import { addCondition } from '../query/edit.js';
import type { Condition } from '../query/syntax.js';
import { texts } from '../texts.js';
import { copy } from './copy.js';

interface ValueActionsProps {
  readonly condition: Condition;
  readonly canExclude?: boolean;
  /** False: the buttons are skipped by Tab, for lists in which arrow keys move. */
  readonly isReachable?: boolean;
}

export function ValueActions({ condition, canExclude = true, isReachable = true }: ValueActionsProps) {
  const { kind, name, value } = condition;
  const isTooLong = value.length > MAX_VALUE;
  return (
    <span class="value-actions">
      <IconButton
        small
        tabIndex={isReachable ? 0 : -1}
        icon={CirclePlus}
        label={isTooLong ? texts.record.tooLong : texts.record.filter(name, short(value))}
        disabled={isTooLong}
        onClick={() => editQuery((text) => addCondition(text, condition))}
      />
      {canExclude && (
        <IconButton
          small
          tabIndex={isReachable ? 0 : -1}
          icon={CircleMinus}
          label={isTooLong ? texts.record.tooLong : texts.record.exclude(name, short(value))}
          disabled={isTooLong}
          onClick={() => editQuery((text) => addCondition(text, { ...condition, negated: true }))}
        />
      )}
      {kind === 'field' && (
        <IconButton
          small
          tabIndex={isReachable ? 0 : -1}
          icon={Pin}
          label={texts.record.show(name)}
          pressed={view.value.columns.includes(name)}
          onClick={() => toggleColumn(name)}
        />
      )}
      <IconButton
        small
        tabIndex={isReachable ? 0 : -1}
        icon={Copy}
        label={texts.record.copyValue(name)}
        onClick={() => copy(value)}
      />
    </span>
  );
}

const short = (value: string) => (value.length > 60 ? `${value.slice(0, 60)}…` : value);
