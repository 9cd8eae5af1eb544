/**
 * A scrolling list for messages. Only rows near the view are rendered. It stays at its end while rows are added there, and
 * otherwise keeps the row at the top of the view where it is, whatever is added or changes its height above it.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useReducer, useRef } from 'preact/hooks';
import { createHeights } from './row-heights.js';

export interface ListControl {
  scrollToEnd(): void;
  /** Puts a row at the top or the middle of the view; without effect for unknown keys. */
  scrollTo(key: string, align: 'start' | 'center'): void;
  isAtEnd(): boolean;
}

interface AnchoredListProps {
  /** Stable key of each row, top to bottom. */
  readonly keys: readonly string[];
  /** Height in px of a row that has not been measured. */
  readonly estimate: (index: number) => number;
  readonly row: (index: number) => ComponentChildren;
  /** Scrolls with the rows, above them: what the list begins with, or that older rows are loading. */
  readonly head?: ComponentChildren;
  readonly label: string;
  readonly class?: string;
  /** False while newer rows exist that are not loaded: the list does not follow its end then. */
  readonly followsEnd?: boolean;
  /** Row at which to begin; the end without one. */
  readonly start?: string | undefined;
  readonly onReady?: (control: ListControl) => void;
  /** The first or the last rows are near the view. */
  readonly onNearStart?: () => void;
  readonly onNearEnd?: () => void;
  /** Whether the end of the list is in view. */
  readonly onEnd?: (isAtEnd: boolean) => void;
}

/** Px rendered above and below the view. */
const MARGIN = 900;
/** Px from an end at which more rows are wanted. */
const NEAR = 700;
/** Px within which the view counts as at the end. */
const END_TOLERANCE = 6;

/** What stays where it is: the end, or the top of a row at a distance in px from the top of the view. */
type Anchor = 'end' | { readonly key: string; readonly distance: number };

export function AnchoredList(props: AnchoredListProps) {
  const { keys, estimate, row, label, start, onReady } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const head = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const heights = useRef(createHeights()).current;
  const anchor = useRef<Anchor>(start === undefined ? 'end' : { key: start, distance: 80 });
  /** Scroll position at which the list was last put at its end. */
  const endTop = useRef(-1);
  const rendered = useRef({ first: 0, last: -1 });
  const latest = useRef(props);
  latest.current = props;
  const [, rerender] = useReducer((count: number) => count + 1, 0);

  heights.update(keys, estimate);
  replaceLostAnchor();
  const range = rangeAt(topOf(anchor.current));
  rendered.current = range;

  function viewHeight() {
    return scroller.current?.clientHeight || 800;
  }

  /** Px from the top of the view to the top of an element. */
  function distanceOf(element: Element): number {
    return element.getBoundingClientRect().top - (scroller.current?.getBoundingClientRect().top ?? 0);
  }

  /** When the row that is the anchor has gone, the next one that is still there takes its place. */
  function replaceLostAnchor() {
    const lost = anchor.current;
    if (lost === 'end' || heights.indexOf(lost.key) >= 0) return;
    const elements = rowElements();
    const next = elements
      .slice(elements.findIndex(({ dataset }) => dataset.key === lost.key) + 1)
      .find(({ dataset }) => heights.indexOf(dataset.key ?? '') >= 0);
    anchor.current = next ? { key: next.dataset.key ?? '', distance: distanceOf(next) } : 'end';
  }

  /** Scroll position that the anchor wants. */
  function topOf(current: Anchor): number {
    const index = current === 'end' ? -1 : heights.indexOf(current.key);
    if (current === 'end' || index < 0) return heights.total() - viewHeight();
    return heights.offset(index) - current.distance;
  }

  function rangeAt(top: number) {
    return { first: heights.at(top - MARGIN), last: heights.at(top + viewHeight() + MARGIN) };
  }

  function rowElements() {
    return [...(content.current?.children ?? [])] as HTMLElement[];
  }

  function measure(): boolean {
    let changed = false;
    for (const element of rowElements())
      changed = heights.set(element.dataset.key ?? '', element.getBoundingClientRect().height) || changed;
    return changed;
  }

  /** Scrolls so that the anchor is in its place. */
  function restore() {
    const view = scroller.current;
    if (!view) return;
    const current = anchor.current;
    if (current === 'end') {
      if (view.scrollHeight - view.clientHeight - view.scrollTop > 0.5) view.scrollTop = view.scrollHeight;
      endTop.current = view.scrollTop;
      return;
    }
    const element = rowElements().find(({ dataset }) => dataset.key === current.key);
    if (!element) return;
    const distance = distanceOf(element);
    if (Math.abs(distance - current.distance) > 0.5) view.scrollTop += distance - current.distance;
  }

  function settle() {
    if (measure()) {
      heights.update(latest.current.keys, latest.current.estimate);
      const wanted = rangeAt(topOf(anchor.current));
      const { first, last } = rendered.current;
      if (wanted.first < first || wanted.last > last) rerender(0);
    }
    restore();
  }

  /** Takes the row at the top of the view as anchor, or the end if it is in view. */
  function readAnchor() {
    const view = scroller.current;
    if (!view) return;
    const { scrollTop, scrollHeight, clientHeight } = view;
    // Rows may have grown since the list scrolled to its end: only another position is a user's choice.
    const isLeftAtEnd = anchor.current === 'end' && scrollTop === endTop.current;
    const isAtEnd = isLeftAtEnd || scrollHeight - clientHeight - scrollTop <= END_TOLERANCE;
    const viewTop = view.getBoundingClientRect().top;
    const element = rowElements().find((each) => each.getBoundingClientRect().bottom > viewTop);
    const top = element?.getBoundingClientRect().top ?? 0;
    if (isAtEnd && latest.current.followsEnd !== false) anchor.current = 'end';
    else if (element && top < viewTop + clientHeight)
      anchor.current = { key: element.dataset.key ?? '', distance: top - viewTop };
    else {
      // The scroll bar was dragged beyond what is rendered.
      const rowsTop = scrollTop - (head.current?.offsetHeight ?? 0);
      const index = heights.at(rowsTop);
      const key = latest.current.keys[index];
      if (key !== undefined) anchor.current = { key, distance: heights.offset(index) - rowsTop };
    }
    latest.current.onEnd?.(isAtEnd);
  }

  function onScroll() {
    readAnchor();
    const wanted = rangeAt(topOf(anchor.current));
    const { first, last } = rendered.current;
    const slack = 3;
    if (wanted.first < first - slack || wanted.last > last + slack || (wanted.first !== first && wanted.first === 0))
      rerender(0);
    else if (wanted.last !== last && wanted.last === latest.current.keys.length - 1) rerender(0);
    askForMore();
  }

  function askForMore() {
    const view = scroller.current;
    if (!view) return;
    if (view.scrollTop < NEAR) latest.current.onNearStart?.();
    if (view.scrollHeight - view.clientHeight - view.scrollTop < NEAR) latest.current.onNearEnd?.();
  }

  useLayoutEffect(settle);
  useEffect(() => {
    const frame = requestAnimationFrame(askForMore);
    return () => cancelAnimationFrame(frame);
  }, [keys]);
  useEffect(() => {
    readAnchor();
    onReady?.({
      scrollToEnd() {
        anchor.current = 'end';
        rerender(0);
        latest.current.onEnd?.(true);
      },
      scrollTo(key, align) {
        const index = heights.indexOf(key);
        if (index < 0) return;
        const space = align === 'center' ? Math.max(60, (viewHeight() - heights.of(index)) / 2) : 60;
        anchor.current = { key, distance: Math.min(space, heights.offset(index)) };
        rerender(0);
      },
      isAtEnd: () => anchor.current === 'end',
    });
    const observer = new ResizeObserver(settle);
    if (scroller.current) observer.observe(scroller.current);
    if (content.current) observer.observe(content.current);
    return () => observer.disconnect();
  }, []);

  const rows = keys.slice(range.first, range.last + 1);
  const before = heights.offset(range.first);
  const after = heights.total() - heights.offset(range.last + 1);
  return (
    <div
      ref={scroller}
      class={`anchored-list ${props.class ?? ''}`}
      role="log"
      aria-live="off"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls by keyboard
      tabIndex={0}
      onScroll={onScroll}
    >
      <div ref={head}>{props.head}</div>
      <div style={{ height: `${before}px` }} />
      <div ref={content}>
        {rows.map((key, position) => (
          <div key={key} data-key={key}>
            {row(range.first + position)}
          </div>
        ))}
      </div>
      <div style={{ height: `${Math.max(0, after)}px` }} />
    </div>
  );
}
