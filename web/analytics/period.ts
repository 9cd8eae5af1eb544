/** Period of a report, and its picker: the last days or a custom range. */
import { byId } from '../shared/dom.js';
import { dayAt } from './formatting.js';

export type Period = { readonly days: number } | { readonly start: string; readonly end: string };

const DEFAULT_PERIOD: Period = { days: 30 };
const DAY_MS = 86_400_000;
/** Longer periods are clamped by the service. */
const MAX_DAYS = 730;

/** Reads the period from URL parameters. */
export function periodOf(query: URLSearchParams): Period {
  const [start, end, days] = [query.get('start'), query.get('end'), Number(query.get('days'))];
  if (start && end) return { start, end };
  return Number.isInteger(days) && days >= 1 ? { days: Math.min(days, MAX_DAYS) } : DEFAULT_PERIOD;
}

/** Connects the period form; `onChange` receives the selected period. */
export function createPeriodPicker(onChange: (period: Period) => void) {
  const form = byId<HTMLFormElement>('period');
  const custom = byId('custom-days');
  const [from, to] = [byId<HTMLInputElement>('from'), byId<HTMLInputElement>('to')];
  const options = [...form.querySelectorAll<HTMLInputElement>('input[name=days]')];

  form.onsubmit = (event) => {
    event.preventDefault();
    to.setCustomValidity(from.value > to.value ? 'The last day must not be before the first' : '');
    if (form.reportValidity()) onChange({ start: from.value, end: to.value });
  };
  to.oninput = from.oninput = () => to.setCustomValidity('');
  for (const option of options)
    option.onchange = () => {
      custom.hidden = option.value !== 'custom';
      if (option.value !== 'custom') onChange({ days: Number(option.value) });
    };

  let current: Period | undefined;

  /** Shows a period. A refresh with the same period keeps unsubmitted input. */
  return (period: Period) => {
    const now = Date.now();
    to.max = from.max = dayAt(now);
    if (period === current) return;
    current = period;
    const preset = 'days' in period && options.find(({ value }) => value === String(period.days));
    for (const option of options) option.checked = preset ? option === preset : option.value === 'custom';
    custom.hidden = Boolean(preset);
    if ('start' in period) [from.value, to.value] = [period.start, period.end];
    else [from.value, to.value] = [dayAt(now - (period.days - 1) * DAY_MS), dayAt(now)];
  };
}
