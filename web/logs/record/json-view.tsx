/** A record as formatted JSON. Arrow keys move between lines; a line that is pointed at or focused has actions. */
import { useMemo, useRef, useState } from 'preact/hooks';
import { Button } from '../../shared/components/button.js';
import type { Entry } from '../contract.js';
import type { Condition } from '../query/syntax.js';
import { texts } from '../texts.js';
import { type JsonLine, jsonLines } from './json-lines.js';
import { ValueActions } from './value-actions.js';

/** Lines shown at first of a large record. */
const LINES_SHOWN = 200;
/** Deeper lines are not indented further, so that they stay in view. */
const MAX_INDENT = 20;

export function JsonView({ entry }: { entry: Entry }) {
  const lines = useMemo(() => jsonLines(entry.data), [entry]);
  const [isWhole, setWhole] = useState(false);
  const [focused, setFocused] = useState(0);
  const element = useRef<HTMLElement>(null);
  const shown = isWhole ? lines : lines.slice(0, LINES_SHOWN);

  function onKeyDown(event: KeyboardEvent) {
    const next = { ArrowDown: focused + 1, ArrowUp: focused - 1, Home: 0, End: shown.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const line = Math.max(0, Math.min(shown.length - 1, next));
    (element.current?.children[line] as HTMLElement | undefined)?.focus();
  }

  return (
    <>
      <section ref={element} class="json" aria-label={texts.record.details} onKeyDown={onKeyDown}>
        {shown.map((line, index) => (
          <Line key={line.key} line={line} isCurrent={index === focused} onFocus={() => setFocused(index)} />
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

interface LineProps {
  readonly line: JsonLine;
  readonly isCurrent: boolean;
  readonly onFocus: () => void;
}

function Line({ line: { indent, name, text, block, kind, leaf, comma }, isCurrent, onFocus }: LineProps) {
  return (
    <div
      class="json-line"
      style={{ paddingInlineStart: `${Math.min(indent, MAX_INDENT) * 1.25}rem` }}
      tabIndex={isCurrent ? 0 : -1}
      onFocusCapture={onFocus}
    >
      {name !== undefined && <span class="json-name">{JSON.stringify(name)}: </span>}
      {block === undefined ? (
        <span class={`json-${kind}`}>{text}</span>
      ) : (
        <span class="json-string json-block">{block}</span>
      )}
      {comma && ','}
      {leaf && leaf.path !== '' && <ValueActions condition={conditionOf(leaf)} isReachable={isCurrent} />}
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
