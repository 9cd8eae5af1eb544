/** What people of a chat were told is stored, and how it must look to each of them. */

// biome-ignore lint/suspicious/noExplicitAny: server answers are checked member by member.
export type Any = any;

/** A channel or conversation. */
export interface Place {
  readonly id: string;
  /** For example `/channels/<id>`. */
  readonly path: string;
  /** Names of those who see it. */
  readonly viewers: readonly string[];
}

export interface File {
  readonly filename: string;
  readonly content: string;
}

/** The expected state of an acknowledged message or reply. */
export interface Post {
  readonly id: string;
  readonly place: Place;
  /** Name of the author. */
  readonly author: string;
  readonly parent: Post | undefined;
  readonly quotedMessageId: string | null;
  readonly file: File | undefined;
  /** All versions of its text, oldest first. */
  readonly contents: string[];
  /** Names of those who reacted, by reaction. */
  readonly reactions: Map<string, Set<string>>;
  isPinned: boolean;
  /** Names of those who have sent its deletion. */
  readonly deletedBy: Set<string>;
}

/** From the moment on when its deletion, or that of its message, is sent; others may be refused then. */
export const isGone = ({ deletedBy, parent }: Post): boolean =>
  deletedBy.size > 0 || (parent !== undefined && isGone(parent));

/** A post as the ledger has it, or as a client sees it. */
export interface Summary {
  readonly id: string;
  readonly content: string;
  readonly author: string;
  readonly reactions: object;
  readonly isPinned: boolean;
  readonly quotedMessageId: string | null;
  readonly files: readonly string[];
}

export function summaryOf(post: Post, idOf: (name: string) => string): Summary {
  const { id, author, contents, reactions, isPinned, quotedMessageId, file } = post;
  const reacted = [...reactions].filter(([, names]) => names.size > 0);
  return {
    id,
    content: contents.at(-1)!,
    author: idOf(author),
    reactions: Object.fromEntries(reacted.map(([reaction, names]) => [reaction, [...names].map(idOf).sort()])),
    isPinned,
    quotedMessageId,
    files: file ? [file.filename] : [],
  };
}

export function summaryOfView({
  id,
  content,
  author,
  reactions,
  pinnedAt,
  quotedMessageId,
  attachments,
}: Any): Summary {
  const sorted = Object.entries<string[]>(reactions).map(([reaction, ids]) => [reaction, [...ids].sort()]);
  return {
    id,
    content,
    author: author.id,
    reactions: Object.fromEntries(sorted),
    isPinned: pinnedAt !== null,
    quotedMessageId,
    files: attachments.map(({ filename }: Any) => filename),
  };
}

/** The summary of a thread that a client sees, from its replies in order; the order of participants is left open. */
export function threadMetaOf(replies: readonly Any[]): object | undefined {
  const last = replies.at(-1);
  if (!last) return undefined;
  return {
    replyCount: replies.length,
    lastReplyAt: last.createdAt,
    lastReplyBy: last.author,
    participants: [...new Set(replies.map(({ author }) => author.id))].sort(),
  };
}
