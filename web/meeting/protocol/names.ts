/** Removes invisible characters from names of participants and files, so that they cannot imitate other parts of the page. */

/** Bidirectional control characters (https://www.unicode.org/reports/tr9): they can reorder text beyond the name. */
const DIRECTIONS = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

export const plainName = (name: string): string => name.replace(DIRECTIONS, '').trim() || 'somebody';
