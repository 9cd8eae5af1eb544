/** Which days are reported: so many up to today, or from one to another. */
import { byId } from '../shared/dom.js';
import { dayAt } from './formatting.js';

export type Period = { readonly days: number } | { readonly start: string; readonly end: string };

const USUAL: Period = { days: 30 };
const DAY_MS = 86_400_000;
/** More are counted as these. */
const MOST_DAYS = 730;

/** As an address asks for it; the usual where it asks for none. */
export function periodOf(asked: URLSearchParams): Period {
  const [start, end, days] = [asked.get('start'), asked.get('end'), Number(asked.get('days'))];
  if (start && end) return { start, end };
  return Number.isInteger(days) && days >= 1 ? { days: Math.min(days, MOST_DAYS) } : USUAL;
}

/** The form of it; `changed` is told what the reader chooses. */
export function createPeriodPicker(changed: (period: Period) => void) {
  const form = byId<HTMLFormElement>('period');
  const custom = byId('custom-days');
  const [from, to] = [byId<HTMLInputElement>('from'), byId<HTMLInputElement>('to')];
  const choices = [...form.querySelectorAll<HTMLInputElement>('input[name=days]')];

  form.onsubmit = (event) => {
    event.preventDefault();
    to.setCustomValidity(from.value > to.value ? 'The last day must not be before the first' : '');
    if (form.reportValidity()) changed({ start: from.value, end: to.value });
  };
  to.oninput = from.oninput = () => to.setCustomValidity('');
  for (const choice of choices)
    choice.onchange = () => {
      custom.hidden = choice.value !== 'custom';
      if (choice.value !== 'custom') changed({ days: Number(choice.value) });
    };

  let shown: Period | undefined;

  /** Shows which is chosen; what the reader is about to choose stays while the same is counted anew. */
  return (period: Period) => {
    const now = Date.now();
    to.max = from.max = dayAt(now);
    if (period === shown) return;
    shown = period;
    const chosen = 'days' in period && choices.find(({ value }) => value === String(period.days));
    for (const choice of choices) choice.checked = chosen ? choice === chosen : choice.value === 'custom';
    custom.hidden = Boolean(chosen);
    if ('start' in period) [from.value, to.value] = [period.start, period.end];
    else [from.value, to.value] = [dayAt(now - (period.days - 1) * DAY_MS), dayAt(now)];
  };
}
