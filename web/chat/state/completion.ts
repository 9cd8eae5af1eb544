/** Completion of `@name` while it is typed. */
import type { User } from '../contract.js';

export interface MentionQuery {
  /** Index of the `@`. */
  readonly start: number;
  readonly text: string;
}

const MAX_LENGTH = 30;
const MAX_OPTIONS = 8;

/** The mention that ends at the caret, if there is one. */
export function mentionQuery(content: string, caret: number): MentionQuery | undefined {
  const before = content.slice(0, caret);
  const start = before.lastIndexOf('@');
  if (start < 0 || !/(?:^|[\s([{<])$/.test(before.slice(0, start))) return undefined;
  const text = before.slice(start + 1);
  return text.length > MAX_LENGTH || /[\n@]|^\s|\s\S*\s/.test(text) ? undefined : { start, text };
}

export interface MentionOption {
  /** User id, `@channel` or `@here`. */
  readonly id: string;
  readonly name: string;
}

const EVERYONE: readonly MentionOption[] = ['channel', 'here'].map((name) => ({ id: `@${name}`, name }));

const fold = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();

/** Rank of a name for typed text: 0 begins with it, 1 a word begins with it, 2 contains it; undefined otherwise. */
export function rankOf(name: string, typed: string): number | undefined {
  const [folded, query] = [fold(name), fold(typed)];
  if (folded.startsWith(query)) return 0;
  if (folded.split(/[\s._-]+/).some((word) => word.startsWith(query))) return 1;
  return folded.includes(query) ? 2 : undefined;
}

/** Best first; `@channel` and `@here` only where more than two people read. */
export function mentionOptions(users: Iterable<User>, typed: string, withEveryone: boolean): readonly MentionOption[] {
  const people = [...users].map(({ id, userName }) => ({ id, name: userName }));
  return ranked([...people, ...(withEveryone ? EVERYONE : [])], typed, ({ name }) => name).slice(0, MAX_OPTIONS);
}

/** Items whose name matches what is typed, best first and then by name. */
export function ranked<Item>(items: readonly Item[], typed: string, nameOf: (item: Item) => string): readonly Item[] {
  return items
    .flatMap((item) => {
      const rank = rankOf(nameOf(item), typed);
      return rank === undefined ? [] : [{ item, rank, name: nameOf(item) }];
    })
    .sort((a, b) => a.rank - b.rank || a.name.localeCompare(b.name))
    .map(({ item }) => item);
}

/** Text and caret after a mention was completed. */
export function completeMention(content: string, query: MentionQuery, name: string, caret: number) {
  const inserted = `@${name} `;
  const text = content.slice(0, query.start) + inserted + content.slice(caret).replace(/^ /, '');
  return { text, caret: query.start + inserted.length };
}
