/** The time range: quick ranges, relative with a number and a unit, and from-to. */
import { ChevronDown, Clock } from 'lucide-preact';
import { useRef, useState } from 'preact/hooks';
import { ApiError } from '../../shared/api/http.js';
import { Button } from '../../shared/components/button.js';
import { Form, SelectField, TextField } from '../../shared/components/form.js';
import { Icon } from '../../shared/components/icon.js';
import { Popover } from '../../shared/components/popover.js';
import { run } from '../explore/explorer-state.js';
import { change, view } from '../explore/view.js';
import { texts } from '../texts.js';
import {
  absoluteRange,
  boundsOf,
  describeRange,
  localInput,
  QUICK_RANGES,
  type Range,
  relativeRange,
  zoneName,
} from './range.js';

export function RangePicker() {
  const anchor = useRef<HTMLSpanElement>(null);
  const [isOpen, setOpen] = useState(false);
  const { range } = view.value;

  function choose(chosen: Range) {
    close();
    if (describeRange(chosen) === describeRange(range)) void run();
    else change({ range: chosen });
  }

  function close() {
    setOpen(false);
    anchor.current?.querySelector('button')?.focus();
  }

  return (
    <span ref={anchor} class="range-picker">
      <Button
        icon={Clock}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        aria-label={`${texts.time.label}: ${describeRange(range)}`}
        onClick={() => setOpen(!isOpen)}
      >
        <span class="range-text">{describeRange(range)}</span>
        <Icon of={ChevronDown} />
      </Button>
      {isOpen && (
        <Popover
          anchor={anchor}
          label={texts.time.label}
          placement="bottom-end"
          class="range-panel"
          onClose={() => setOpen(false)}
        >
          <QuickRanges range={range} choose={choose} />
          <Relative range={range} choose={choose} />
          <Absolute range={range} choose={choose} />
          <p class="quiet">{texts.time.zone(zoneName())}</p>
        </Popover>
      )}
    </span>
  );
}

interface ChoiceProps {
  readonly range: Range;
  readonly choose: (range: Range) => void;
}

function QuickRanges({ range, choose }: ChoiceProps) {
  const quick: readonly Range[] = [...QUICK_RANGES.map((text) => relativeRange(text)!), { kind: 'all' }];
  return (
    <fieldset class="quick-ranges">
      <legend>{texts.time.quick}</legend>
      {quick.map((each) => (
        <button
          key={describeRange(each)}
          type="button"
          class="small"
          aria-pressed={describeRange(each) === describeRange(range)}
          onClick={() => choose(each)}
        >
          {describeRange(each)}
        </button>
      ))}
    </fieldset>
  );
}

function Relative({ range, choose }: ChoiceProps) {
  const [, count = '2', unit = 'h'] = /^(\d+)(\w)$/.exec(range.kind === 'relative' ? range.text : '') ?? [];
  async function apply(values: FormData) {
    const chosen = relativeRange(`${values.get('count')}${values.get('unit')}`);
    if (chosen) choose(chosen);
  }
  return (
    <fieldset class="range-form">
      <legend>{texts.time.relative}</legend>
      <Form submitLabel={texts.time.apply} onSubmit={apply}>
        <TextField
          label={texts.time.lastLabel}
          name="count"
          type="number"
          min={1}
          max={9999}
          defaultValue={count}
          required
        />
        <SelectField label={texts.time.unit} name="unit" defaultValue={unit}>
          {Object.entries(texts.time.units).map(([value, name]) => (
            <option key={value} value={value} selected={value === unit}>
              {name}
            </option>
          ))}
        </SelectField>
      </Form>
    </fieldset>
  );
}

function Absolute({ range, choose }: ChoiceProps) {
  const now = Date.now();
  const { from = now - 3_600_000, to = now } = boundsOf(range, now);
  async function apply(values: FormData) {
    const [start, end] = ['from', 'to'].map((name) => new Date(String(values.get(name))).getTime());
    if (!Number.isFinite(start) || !Number.isFinite(end)) throw new ApiError(texts.time.invalid);
    choose(absoluteRange(start!, end!));
  }
  return (
    <fieldset class="range-form absolute">
      <legend>{texts.time.absolute}</legend>
      <Form submitLabel={texts.time.apply} onSubmit={apply}>
        <TextField
          label={texts.time.from}
          name="from"
          type="datetime-local"
          step={1}
          defaultValue={localInput(from)}
          required
        />
        <TextField
          label={texts.time.to}
          name="to"
          type="datetime-local"
          step={1}
          defaultValue={localInput(to)}
          required
        />
      </Form>
    </fieldset>
  );
}
