/** A scrolling list that renders only the rows in view; rows may differ in height. */
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';

export type Virtual = Virtualizer<HTMLDivElement, HTMLDivElement>;

interface VirtualListProps {
  /** Stable key of each row, top to bottom. */
  readonly keys: readonly string[];
  /** Height in px of a row that has not been measured. */
  readonly estimate: (index: number) => number;
  readonly row: (index: number) => ComponentChildren;
  readonly label: string;
  /** ARIA role of the list, for example `log`. */
  readonly role?: 'list' | 'log' | 'feed';
  readonly class?: string;
  /** Receives the virtualizer for `scrollToIndex`. */
  readonly onReady?: (virtual: Virtual) => void;
  /** Called after scrolling, with the first and the last row in view. */
  readonly onRange?: (first: number, last: number) => void;
}

const OVERSCAN = 8;

export function VirtualList({
  keys,
  estimate,
  row,
  label,
  role = 'list',
  class: name,
  onReady,
  onRange,
}: VirtualListProps) {
  const element = useRef<HTMLDivElement>(null);
  const [, rerender] = useReducer((count: number) => count + 1, 0);
  const [virtual] = useState(() => new Virtualizer(options()));

  function options() {
    return {
      count: keys.length,
      getScrollElement: () => element.current,
      estimateSize: estimate,
      getItemKey: (index: number) => keys[index] ?? index,
      overscan: OVERSCAN,
      observeElementRect,
      observeElementOffset,
      scrollToFn: elementScroll,
      onChange: () => rerender(0),
    };
  }
  virtual.setOptions(options());
  useLayoutEffect(() => virtual._didMount(), []);
  useLayoutEffect(() => virtual._willUpdate());
  useEffect(() => onReady?.(virtual), []);

  const rows = virtual.getVirtualItems();
  const [first, last] = [rows.at(0)?.index ?? 0, rows.at(-1)?.index ?? 0];
  useEffect(() => onRange?.(first, last), [first, last, keys.length]);

  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: each of the roles supports a label
    <div ref={element} class={`virtual-list ${name ?? ''}`} role={role} aria-label={label} tabIndex={0}>
      <div class="canvas" style={{ height: `${virtual.getTotalSize()}px` }}>
        {rows.map(({ key, index, start }) => (
          <div
            key={key}
            class="row"
            role={role === 'list' ? 'listitem' : undefined}
            data-index={index}
            ref={(each) => virtual.measureElement(each)}
            style={{ transform: `translateY(${start}px)` }}
          >
            {row(index)}
          </div>
        ))}
      </div>
    </div>
  );
}
