/** The text of the query bar, which may differ from the query that was run last. */
import { signal } from '@preact/signals';
import { run } from './explorer-state.js';
import { change, view } from './view.js';

/** Text that has been typed but not run; undefined when the bar shows the query of the address. */
export const draft = signal<string | undefined>(undefined);

export const currentText = (): string => draft.value ?? view.value.text;

/** Runs a text, also when it is the one of the address. */
export function runText(text: string): void {
  const trimmed = text.trim();
  draft.value = undefined;
  if (trimmed === view.peek().text) void run();
  else change({ text: trimmed });
}

/** Changes the text, with what was typed in it, and runs it. */
export const editQuery = (edit: (text: string) => string): void => runText(edit(currentText()));
