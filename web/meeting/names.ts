/** Sanitizes names of participants and files, so that they cannot imitate other parts of the page. */
import { element } from '../shared/dom.js';

/** Bidirectional control characters (https://www.unicode.org/reports/tr9): they can reorder text beyond the name. */
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Removes invisible characters that change how the text reads. */
export const plainName = (name: string): string => name.replace(DIRECTIONS, '').trim() || 'somebody';

/** Renders a name in its own text direction, followed by badges that no name can imitate. */
export const nameWithBadges = (name: string, ...badges: readonly (string | false)[]): readonly (Node | string)[] => [
  element('bdi', { textContent: name }),
  ...badges.flatMap((mark) => (mark ? [' ', element('span', { className: 'mark', textContent: mark })] : [])),
];
