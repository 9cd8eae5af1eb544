/** The query bar: a text with completions. What was typed is kept until it is run or cleared. */
import { Search, X } from 'lucide-preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Button, IconButton } from '../../shared/components/button.js';
import { Icon } from '../../shared/components/icon.js';
import { isComposing } from '../../shared/dom.js';
import { currentText, draft, runText } from '../explore/draft.js';
import { currentSelection, fieldNames, problem } from '../explore/explorer-state.js';
import { view } from '../explore/view.js';
import { formatCount, texts } from '../texts.js';
import { completionAt } from './completion.js';
import { parseQuery } from './filter.js';
import { type Suggestion, suggestNames, suggestValues } from './suggestions.js';

export function focusQueryBar(): void {
  document.querySelector<HTMLInputElement>('.query-bar input')?.select();
}

/** Reads completions for the caret, after the keys of a quick typist. */
const TYPING_MS = 120;

export function QueryBar() {
  const listId = useId();
  const problemId = useId();
  const input = useRef<HTMLInputElement>(null);
  const [suggestions, setSuggestions] = useState<readonly Suggestion[]>([]);
  const [active, setActive] = useState(-1);
  const [isOpen, setOpen] = useState(false);
  const asked = useRef(0);
  const text = currentText();
  const shownProblem = draft.value === undefined ? problem.value : undefined;
  const isExpanded = isOpen && suggestions.length > 0;

  // Another address, by a click or the history, replaces what was typed.
  const shownText = useRef(view.value.text);
  useEffect(() => {
    if (shownText.current !== view.value.text) draft.value = undefined;
    shownText.current = view.value.text;
  }, [view.value.text]);

  async function suggest() {
    const ask = ++asked.current;
    const element = input.current;
    if (!element) return;
    const { value, selectionStart } = element;
    const point = completionAt(value, selectionStart ?? value.length);
    const { term } = point;
    if (!term)
      return show(
        ask,
        suggestNames(
          point,
          fieldNames.value.map(({ path }) => path),
        ),
      );
    await new Promise((resolve) => setTimeout(resolve, TYPING_MS));
    if (ask !== asked.current) return;
    show(ask, await suggestValues(value, point, term, currentSelection().bounds, formatCount));
  }

  function show(ask: number, found: readonly Suggestion[]) {
    if (ask !== asked.current) return;
    setSuggestions(found);
    setActive(-1);
  }

  function close() {
    asked.current++;
    setOpen(false);
    setActive(-1);
  }

  function accept({ complete }: Suggestion) {
    const element = input.current;
    if (!element) return;
    const completed = complete(element.value);
    draft.value = completed.text;
    element.value = completed.text;
    element.focus();
    element.setSelectionRange(completed.caret, completed.caret);
    void suggest();
  }

  function submit() {
    close();
    runText(input.current?.value ?? text);
  }

  function onKeyDown(event: KeyboardEvent) {
    if (isComposing(event)) return;
    const { key } = event;
    if (key === 'Escape') {
      if (isExpanded) close();
      else input.current?.blur();
      event.stopPropagation();
      return;
    }
    if (key === 'Enter') {
      const chosen = isExpanded ? suggestions[active] : undefined;
      event.preventDefault();
      return chosen ? accept(chosen) : submit();
    }
    if (key === 'Tab' && isExpanded && active >= 0 && !event.shiftKey) {
      event.preventDefault();
      return accept(suggestions[active]!);
    }
    if (key !== 'ArrowDown' && key !== 'ArrowUp') return;
    event.preventDefault();
    if (!isExpanded) {
      setOpen(true);
      return void suggest();
    }
    const step = key === 'ArrowDown' ? 1 : -1;
    const next = active + step;
    setActive(next < -1 ? suggestions.length - 1 : next >= suggestions.length ? -1 : next);
  }

  return (
    <div class="query-bar">
      <Icon of={Search} />
      <input
        ref={input}
        type="text"
        role="combobox"
        aria-label={texts.query.label}
        aria-autocomplete="list"
        aria-expanded={isExpanded}
        aria-controls={listId}
        aria-activedescendant={isExpanded && active >= 0 ? `${listId}-${active}` : undefined}
        aria-invalid={shownProblem === undefined ? undefined : true}
        aria-describedby={shownProblem === undefined ? undefined : problemId}
        placeholder={texts.query.placeholder}
        value={text}
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        enterkeyhint="search"
        onInput={(event) => {
          draft.value = event.currentTarget.value;
          setOpen(true);
          void suggest();
        }}
        onFocus={() => void suggest()}
        onClick={() => {
          setOpen(true);
          void suggest();
        }}
        onBlur={close}
        onKeyDown={onKeyDown}
      />
      {text !== '' && <IconButton small icon={X} label={texts.query.clear} onClick={() => runText('')} />}
      <Button
        variant="main"
        small
        onClick={submit}
        disabled={parseQuery(text).problem !== undefined && draft.value === undefined}
      >
        {texts.query.run}
      </Button>
      <div id={listId} class="completions" role="listbox" aria-label={texts.query.suggestions} hidden={!isExpanded}>
        {suggestions.map((each, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the combobox
          <div
            key={each.key}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            // The field keeps the focus.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => accept(each)}
          >
            <span>{each.label}</span>
            <span class="quiet">{each.note}</span>
          </div>
        ))}
      </div>
      {shownProblem !== undefined && (
        <p class="problem" id={problemId} role="alert">
          {shownProblem}
        </p>
      )}
    </div>
  );
}
