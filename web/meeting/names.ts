/** Names that strangers gave to themselves or to their files, so that they look like nothing but names. */
import { element } from '../shared/dom.js';

/** What turns around the text that follows (https://www.unicode.org/reports/tr9): it can reach beyond the name. */
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Without what is not seen and changes how the rest is read. */
export const plainName = (name: string): string => name.replace(DIRECTIONS, '').trim() || 'somebody';

/** A name in its own direction, and what is known of whoever has it, which no name can look like. */
export const nameWithBadges = (name: string, ...badges: readonly (string | false)[]): readonly (Node | string)[] => [
  element('bdi', { textContent: name }),
  ...badges.flatMap((mark) => (mark ? [' ', element('span', { className: 'mark', textContent: mark })] : [])),
];
