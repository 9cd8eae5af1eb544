/** Moves the focus to the heading of a view that replaces another, so that keyboard and screen reader begin there. */
import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** For a heading with `tabIndex={-1}`. */
export function useHeadingFocus(): RefObject<HTMLHeadingElement> {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return heading;
}
