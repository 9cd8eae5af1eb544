/** Rows of a timeline: messages grouped by author, with separators of days and of what is new. */
import type { Message } from '../contract.js';
import type { Outgoing } from './outbox.js';

export type Row =
  | { readonly kind: 'day'; readonly key: string; readonly at: number }
  | { readonly kind: 'new'; readonly key: string }
  | {
      readonly kind: 'message';
      readonly key: string;
      readonly message: Message;
      /** Whether name and avatar are shown. */
      readonly isFirst: boolean;
    }
  | { readonly kind: 'outgoing'; readonly key: string; readonly outgoing: Outgoing; readonly isFirst: boolean };

/** Messages of one author within this time are grouped. */
const GROUP_MS = 5 * 60_000;

interface RowsOf {
  readonly messages: readonly Message[];
  readonly outgoing?: readonly Outgoing[];
  readonly userId: string;
  /** Draws the line of new messages after this time. */
  readonly newAfter?: number | undefined;
  readonly withDays?: boolean;
}

interface Previous {
  readonly authorId: string;
  readonly at: number;
}

const continues = (previous: Previous | undefined, authorId: string, at: number): boolean =>
  previous?.authorId === authorId && at - previous.at < GROUP_MS;

export function rowsOf({ messages, outgoing = [], userId, newAfter, withDays = true }: RowsOf): readonly Row[] {
  const rows: Row[] = [];
  let previous: Previous | undefined;
  /** Bounds of the day; dates are computed for each day only, as a history has many messages. */
  let [dayStart, dayEnd] = [Number.NaN, Number.NaN];
  let hasNewSeparator = newAfter === undefined;

  /** The key follows from the first message of the day: with older messages the separator moves. */
  function openDay(at: number, key: string) {
    if (!withDays || (at >= dayStart && at < dayEnd)) return;
    dayStart = new Date(at).setHours(0, 0, 0, 0);
    dayEnd = new Date(at).setHours(24, 0, 0, 0);
    previous = undefined;
    rows.push({ kind: 'day', key: `day-${key}`, at });
  }

  for (const message of messages) {
    openDay(message.createdAt, message.id);
    if (!hasNewSeparator && message.createdAt > newAfter! && message.author.id !== userId) {
      hasNewSeparator = true;
      previous = undefined;
      rows.push({ kind: 'new', key: `new-${message.id}` });
    }
    const { id, author, createdAt } = message;
    const isFirst = message.quotedMessageId !== null || !continues(previous, author.id, createdAt);
    rows.push({ kind: 'message', key: id, message, isFirst });
    previous = { authorId: author.id, at: createdAt };
  }
  for (const each of outgoing) {
    openDay(each.writtenAt, each.key);
    const isFirst = each.quotedMessageId !== null || !continues(previous, userId, each.writtenAt);
    rows.push({ kind: 'outgoing', key: each.key, outgoing: each, isFirst });
    previous = { authorId: userId, at: each.writtenAt };
  }
  return rows;
}
