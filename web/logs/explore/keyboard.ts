/** Shortcuts of the explorer; none of them works while a text is typed or a dialog is open. */

import { focusQueryBar } from '../query/query-bar.js';
import { showAround } from '../record/around-state.js';
import { copy } from '../record/copy.js';
import { recordJson } from '../record/record.js';
import { run } from './explorer-state.js';
import { help } from './help-state.js';
import { isPaused, setPaused } from './live.js';
import { active, listControl } from './record-list.js';
import { entries } from './results.js';
import { change, view } from './view.js';

const activeIndex = () => entries.peek().findIndex(({ id }) => id === active.peek());
const activeEntry = () => entries.peek()[activeIndex()];

/** Whether focus is in the list, where arrows move between rows instead of scrolling. */
const isInList = () => document.activeElement?.closest('.record-row, .virtual-list') != null;

const KEYS: { readonly [key: string]: () => void } = {
  '/': focusQueryBar,
  '?': () => {
    help.value = true;
  },
  j: () => listControl.moveTo(activeIndex() + 1),
  k: () => listControl.moveTo(activeIndex() - 1),
  g: () => listControl.moveTo(0),
  c() {
    const entry = activeEntry();
    if (entry) void copy(recordJson(entry));
  },
  a() {
    const entry = activeEntry();
    if (entry) showAround(entry);
  },
  l: () => change({ live: !view.peek().live }),
  p: () => view.peek().live && setPaused(!isPaused.peek()),
  r: () => void run(),
};

const LIST_KEYS: { readonly [key: string]: () => void } = {
  ArrowDown: () => KEYS.j!(),
  ArrowUp: () => KEYS.k!(),
  Home: () => listControl.moveTo(0),
  End: () => listControl.moveTo(entries.peek().length - 1),
  PageDown: () => listControl.moveTo(activeIndex() + 15),
  PageUp: () => listControl.moveTo(activeIndex() - 15),
};

/** Listens until the returned function is called. */
export function listenToKeys(): () => void {
  const listener = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey, altKey, target } = event;
    if (ctrlKey || metaKey || altKey || event.defaultPrevented) return;
    const element = target as HTMLElement;
    if (element.closest('input, textarea, select, [popover], dialog')) return;
    const action = KEYS[key] ?? (isInList() ? LIST_KEYS[key] : undefined);
    if (!action) return;
    event.preventDefault();
    action();
  };
  addEventListener('keydown', listener);
  return () => removeEventListener('keydown', listener);
}
