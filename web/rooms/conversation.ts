/** The conversation as its messages tell it: a pure fold over opened messages in the service's order. */
import type { Content, FileHead } from './content.js';
import type { Bytes } from './crypto/protocol.js';

export type Fault =
  | 'forged'
  | 'damaged'
  | 'key-missing'
  | 'replayed'
  | 'old-key'
  | 'unknown-sender'
  | 'not-understood'
  | 'late-rotation'
  | 'missing';

/** A message after verification and decryption. */
export interface OpenedMessage {
  readonly id: string;
  readonly senderId: string;
  readonly at: number;
  readonly keyVersion: number;
  readonly chainId: string;
  readonly messageIndex: number;
  readonly result: Content | { readonly kind: 'fault'; readonly fault: Fault };
  /** Messages of its chain before it that have not arrived. */
  readonly missing: number;
}

/** A participant who has introduced themselves, and so has shown that they have the room key. */
export interface Member {
  readonly id: string;
  readonly name: string;
  readonly agreementKey: string;
  /** Version of the room key of their latest introduction. */
  readonly keyVersion: number;
  readonly invite?: string;
  readonly hasLeft: boolean;
}

export interface SharedFile {
  readonly head: FileHead;
  readonly parts: readonly (Bytes | undefined)[];
}

interface EntryBase {
  readonly id: string;
  readonly at: number;
  readonly senderId: string;
}

export type Entry = EntryBase &
  (
    | { readonly kind: 'text'; readonly text: string; readonly replyTo?: string }
    | { readonly kind: 'file'; readonly file: SharedFile }
    | { readonly kind: 'joined' | 'left' }
    | { readonly kind: 'renamed'; readonly from: string; readonly to: string }
    | { readonly kind: 'titled'; readonly title: string }
    | { readonly kind: 'rotated'; readonly excluded: readonly string[] }
    | { readonly kind: 'fault'; readonly fault: Fault; readonly count: number }
  );

export const isMessage = (entry: Entry | undefined): boolean => entry?.kind === 'text' || entry?.kind === 'file';

export interface Conversation {
  readonly entries: readonly Entry[];
  readonly members: ReadonlyMap<string, Member>;
  readonly title: string;
  /** Version of the room key that messages are to be encrypted with. */
  readonly keyVersion: number;
  /** Participants with that key; undefined for the first version, which every link has. */
  readonly holders: ReadonlySet<string> | undefined;
}

export const emptyConversation = (keyVersion: number, title = ''): Conversation => ({
  entries: [],
  members: new Map(),
  title,
  keyVersion,
  holders: undefined,
});

/** Whether a participant can have the current room key. */
export const holdsKey = ({ holders }: Conversation, id: string): boolean => holders?.has(id) ?? true;

/** Whether a participant has introduced themselves, has the current room key, and has not left. */
export function isPresent(conversation: Conversation, id: string): boolean {
  const member = conversation.members.get(id);
  return member !== undefined && !member.hasLeft && holdsKey(conversation, id);
}

/** Older ones are dropped, so that a busy room does not fill the memory. */
const MAX_ENTRIES = 5000;

/** Adds messages in order. */
export function addMessages(before: Conversation, messages: readonly OpenedMessage[]): Conversation {
  const next: Draft = { ...before, entries: [...before.entries], members: new Map(before.members) };
  for (const message of messages) addMessage(next, message);
  return next;
}

interface Draft extends Conversation {
  entries: Entry[];
  members: Map<string, Member>;
  title: string;
  keyVersion: number;
  holders: ReadonlySet<string> | undefined;
}

function addMessage(draft: Draft, message: OpenedMessage): void {
  const { id, senderId, at, result, missing, keyVersion } = message;
  const base = { id, at, senderId };
  if (missing > 0) addFault(draft, { ...base, id: `${id}-missing` }, 'missing', missing);
  if (result.kind === 'fault') addFault(draft, base, result.fault);
  else if (keyVersion < draft.keyVersion && !holdsKey(draft, senderId)) addFault(draft, base, 'old-key');
  else addContent(draft, base, keyVersion, result);
  if (draft.entries.length > MAX_ENTRIES) draft.entries.splice(0, draft.entries.length - MAX_ENTRIES);
}

function addContent(draft: Draft, base: EntryBase, keyVersion: number, content: Content): void {
  const { entries, members } = draft;
  const { senderId } = base;
  if (keyVersion > draft.keyVersion) {
    // The message of the rotation is no longer stored.
    draft.keyVersion = keyVersion;
    draft.holders = new Set();
  }
  if (draft.holders && keyVersion === draft.keyVersion) draft.holders = new Set(draft.holders).add(senderId);
  switch (content.kind) {
    case 'text': {
      const { text, replyTo } = content;
      entries.push({ ...base, kind: 'text', text, ...(replyTo && { replyTo }) });
      return;
    }
    case 'hello': {
      const { name, agreementKey, invite } = content;
      const known = members.get(senderId);
      members.set(senderId, {
        id: senderId,
        name,
        agreementKey,
        keyVersion,
        hasLeft: false,
        ...(invite && { invite }),
      });
      if (!known || known.hasLeft) entries.push({ ...base, kind: 'joined' });
      else if (known.name !== name) entries.push({ ...base, kind: 'renamed', from: known.name, to: name });
      return;
    }
    case 'title':
      draft.title = content.title;
      entries.push({ ...base, kind: 'titled', title: content.title });
      return;
    case 'left': {
      const known = members.get(senderId);
      if (known) members.set(senderId, { ...known, hasLeft: true });
      entries.push({ ...base, kind: 'left' });
      return;
    }
    case 'rotation': {
      // Of several for one version the first counts.
      if (keyVersion !== draft.keyVersion || content.keys.version !== keyVersion + 1) {
        addFault(draft, base, 'late-rotation');
        return;
      }
      const holders = new Set(Object.keys(content.keys.keys));
      const excluded = [...members.values()].filter(({ id, hasLeft }) => !hasLeft && !holders.has(id));
      draft.keyVersion = content.keys.version;
      draft.holders = holders;
      entries.push({ ...base, kind: 'rotated', excluded: excluded.map(({ id }) => id) });
      return;
    }
    case 'part':
      addPart(entries, base, content);
  }
}

function addPart(entries: Entry[], base: EntryBase, part: Extract<Content, { kind: 'part' }>): void {
  const id = `file-${base.senderId}-${part.fileId}`;
  if (part.file) {
    const parts = Array.from({ length: part.parts }, (_, at) => (at === 0 ? part.bytes : undefined));
    if (!entries.some((entry) => entry.id === id))
      entries.push({ ...base, id, kind: 'file', file: { head: part.file, parts } });
    return;
  }
  const at = entries.findLastIndex((entry) => entry.id === id);
  const entry = entries[at];
  if (entry?.kind !== 'file' || entry.file.parts[part.part] || part.part >= entry.file.parts.length) return;
  const parts = entry.file.parts.with(part.part, part.bytes);
  entries[at] = { ...entry, file: { ...entry.file, parts } };
}

/** Faults of one kind and sender in a row are one entry. */
function addFault({ entries }: Draft, base: EntryBase, fault: Fault, count = 1): void {
  const last = entries.at(-1);
  const isSame = last?.kind === 'fault' && last.fault === fault && last.senderId === base.senderId;
  if (isSame || (last?.kind === 'fault' && last.fault === fault && fault === 'key-missing'))
    entries[entries.length - 1] = { ...last, count: last.count + count };
  else entries.push({ ...base, kind: 'fault', fault, count });
}
