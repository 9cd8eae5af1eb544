/** Position of a record in result order, its id and its cursor. */
import { rejection } from '../shared/index.js';

export interface RecordPosition {
  /** Unix ms. */
  readonly instant: number;
  readonly id: string;
}

export type Order = 'asc' | 'desc';

const POSITION_DIGITS = 13;
const INDEX_DIGITS = 4;

/** Id that sorts as text like (log position, index in the batch) and is stable across rebuilds. */
export const recordId = (position: bigint, index: number): string =>
  position.toString(36).padStart(POSITION_DIGITS, '0') + index.toString(36).padStart(INDEX_DIGITS, '0');

/** Result order: by instant, then by id. */
export const compareRecords = (a: RecordPosition, b: RecordPosition): number =>
  a.instant - b.instant || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

export const badCursor = rejection(
  'logs/bad-cursor',
  'invalid',
  'cursor is not valid; use a nextCursor of an earlier response',
);

export const formatCursor = ({ instant, id }: RecordPosition): string => `${instant.toString(36)}-${id}`;

export function parseCursor(cursor: string): RecordPosition | undefined {
  const [, instant = '', id = ''] = /^([0-9a-z]{1,10})-([0-9a-z]{17})$/.exec(cursor) ?? [];
  return id === '' ? undefined : { instant: Number.parseInt(instant, 36), id };
}
