/** Picks the period of the report: the last days, a range, or the period before or after. */
import { ChevronLeft, ChevronRight } from 'lucide-preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button, IconButton } from '../../shared/components/button.js';
import { dayAt } from '../formatting.js';
import { type Period, PRESETS, periodFrom, rangeOf, shiftRange } from '../period.js';
import { selectPeriod } from '../state/dashboard.js';
import { period } from '../state/selection.js';
import { periodTexts } from '../texts.js';

const isPreset = (shown: Period): boolean => 'days' in shown && (PRESETS as readonly number[]).includes(shown.days);

export function PeriodPicker() {
  const shown = period.value;
  const [isCustom, setCustom] = useState(!isPreset(shown));
  // A refresh with the same period keeps what is being chosen.
  useEffect(() => setCustom(!isPreset(shown)), [shown]);
  const now = Date.now();
  const earlier = shiftRange(rangeOf(shown, now), -1, now);
  const later = shiftRange(rangeOf(shown, now), 1, now);
  return (
    <div id="period">
      <IconButton
        small
        icon={ChevronLeft}
        label={periodTexts.earlier}
        onClick={() => earlier && selectPeriod(periodFrom(earlier, now))}
      />
      <IconButton
        small
        icon={ChevronRight}
        label={periodTexts.later}
        disabled={!later}
        onClick={() => later && selectPeriod(periodFrom(later, now))}
      />
      <fieldset class="segments">
        <legend class="unseen">{periodTexts.title}</legend>
        {PRESETS.map((days) => (
          <Segment
            key={days}
            label={days === 1 ? periodTexts.today : periodTexts.days(days)}
            isChosen={!isCustom && 'days' in shown && shown.days === days}
            choose={() => {
              setCustom(false);
              selectPeriod({ days });
            }}
          />
        ))}
        <Segment label={periodTexts.other} isChosen={isCustom} choose={() => setCustom(true)} />
      </fieldset>
      {isCustom && <RangeForm key={JSON.stringify(shown)} shown={shown} />}
    </div>
  );
}

interface SegmentProps {
  readonly label: string;
  readonly isChosen: boolean;
  readonly choose: () => void;
}

const Segment = ({ label, isChosen, choose }: SegmentProps) => (
  <label>
    <input type="radio" name="days" checked={isChosen} onChange={choose} />
    <span>{label}</span>
  </label>
);

function RangeForm({ shown }: { shown: Period }) {
  const [from, to] = [useRef<HTMLInputElement>(null), useRef<HTMLInputElement>(null)];
  const now = Date.now();
  const { start, end } = rangeOf(shown, now);
  function submit(event: SubmitEvent) {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    if (!from.current || !to.current) return;
    const range = { start: from.current.value, end: to.current.value };
    to.current.setCustomValidity(range.start > range.end ? periodTexts.order : '');
    if (form.reportValidity()) selectPeriod(range);
  }
  const clear = () => to.current?.setCustomValidity('');
  return (
    <form class="range" aria-label={periodTexts.range} onSubmit={submit} onInput={clear} noValidate>
      <label>
        {periodTexts.from} <input ref={from} type="date" required max={dayAt(now)} defaultValue={start} />
      </label>
      <label>
        {periodTexts.to} <input ref={to} type="date" required max={dayAt(now)} defaultValue={end} />
      </label>
      <Button type="submit">{periodTexts.show}</Button>
    </form>
  );
}
