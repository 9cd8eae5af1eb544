/** Where a record stands: its instant, the position of its event in the log, and its place in that batch. */

export interface RecordPosition {
  /** Unix ms. */
  readonly instant: number;
  /** Of `idOf`. */
  readonly id: string;
}

export type Order = 'asc' | 'desc';

const POSITION_DIGITS = 13;
const PLACE_DIGITS = 4;

/** An identifier that sorts as text like (position, place), and is the same after every rebuild. */
export const idOf = (position: bigint, place: number): string =>
  position.toString(36).padStart(POSITION_DIGITS, '0') + place.toString(36).padStart(PLACE_DIGITS, '0');

/** The order of answers: by instant, then by id. */
export const compareRecords = (a: RecordPosition, b: RecordPosition): number =>
  a.instant - b.instant || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** Names a place for those who want what comes after it. */
export const cursorOf = ({ instant, id }: RecordPosition): string => `${instant.toString(36)}-${id}`;

/** Undefined for what `cursorOf` never made. */
export function placeOf(cursor: string): RecordPosition | undefined {
  const [, instant = '', id = ''] = /^([0-9a-z]{1,10})-([0-9a-z]{17})$/.exec(cursor) ?? [];
  return id === '' ? undefined : { instant: Number.parseInt(instant, 36), id };
}
