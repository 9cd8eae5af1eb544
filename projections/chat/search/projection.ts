/** Projects the search index, which finds messages by parts of words without decrypting all of them. */
import { createYielder } from '../../../application/concurrency/index.js';
import type { Position, RecordedEvent } from '../../../application/ports/index.js';
import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { type MessageContent, parentOf } from '../../../domain/chat/events/messages.js';
import { type EventHandlers, handlerFor } from '../../../domain/shared/index.js';
import { type Apply, type Build, longOf, type OwnProjection, type Row, type RowWrite } from '../../kernel/index.js';
import {
  BLOCK_INDEXES,
  BLOCKS,
  type Block,
  type BlockRow,
  type Doc,
  idOf,
  openDocs,
  subjectOf,
  writeOf,
} from './blocks.js';

type Indexed = ChatEvent<'MessagePosted' | 'MessageEdited' | 'MessageDeleted' | 'ReplyPosted' | 'ChannelErased'>;
const INDEXED: { readonly [Type in Indexed['type']]: true } = {
  MessagePosted: true,
  MessageEdited: true,
  MessageDeleted: true,
  ReplyPosted: true,
  ChannelErased: true,
};

/** Messages per block: each addition rewrites the newest block of its channel. */
export const PER_BLOCK = 64;
/** Characters of texts after which a block is full; keeps rows below the document limit. */
const BLOCK_SIZE = 64 * 1024;
/** Blocks changed in memory before they are written: a deleted message may have replies in thousands of blocks. */
const MAX_DIRTY_BLOCKS = 32;
/** Channels with their newest block in memory; those of others are read when needed. */
const MAX_CACHED_CHANNELS = 500;

/** Isolated, so that reading a channel never waits for indexing. */
export const searchOf = (maxCachedChannels = MAX_CACHED_CHANNELS): OwnProjection => ({
  name: 'chat.search',
  version: 7,
  types: Object.keys(INDEXED),
  isolated: true,
  open: (build) => open(build, maxCachedChannels),
  scan,
});

export const search = searchOf();

type ContentEvent = RecordedEvent<ChatEvent<'MessagePosted' | 'MessageEdited' | 'ReplyPosted'>>;

const hasContent = (event: RecordedEvent): event is ContentEvent =>
  ['MessagePosted', 'MessageEdited', 'ReplyPosted'].includes(event.type);

/** Searchable texts of a message. */
function textsOf({ content, attachments, botName }: MessageContent): Pick<Doc, 'content' | 'names' | 'botName'> {
  const names = attachments.map(({ originalName }) => originalName);
  return { content, ...(names.length > 0 && { names }), ...(botName !== undefined && { botName }) };
}

const charactersOf = ({ content, names = [], botName = '' }: Doc): number =>
  [...names, botName].reduce((sum, { length }) => sum + length, content.length);

async function open(build: Build, maxCachedChannels: number): Promise<Apply> {
  const { vault } = build;
  await build.collection(BLOCKS).createIndexes(BLOCK_INDEXES);
  let writer = startIndexWriter(build, maxCachedChannels);
  const yieldIfDue = createYielder();
  /** Of the current batch, by event id. */
  let contents: ReadonlyMap<string, MessageContent> = new Map();

  /** Decrypts the contents of events, by event id, without those whose key was destroyed. */
  async function openContents(events: readonly RecordedEvent[]): Promise<ReadonlyMap<string, MessageContent>> {
    const byChannel = new Map<string, ContentEvent[]>();
    for (const event of events.filter(hasContent)) {
      const { channelId } = event.data;
      const posts = byChannel.get(channelId) ?? [];
      posts.push(event);
      byChannel.set(channelId, posts);
    }
    const contents = new Map<string, MessageContent>();
    for (const [channelId, posts] of byChannel) {
      const secrets = posts.map(({ data }) => data.secret);
      // Bypasses the plaintext cache: a rebuild would evict everything that is being read.
      const opened = (await vault.openMany(subjectOf(channelId), secrets)) as readonly (MessageContent | undefined)[];
      for (const [index, content] of opened.entries()) if (content) contents.set(posts[index]!.id, content);
    }
    return contents;
  }

  async function indexPost({ id: eventId, data, position }: ContentEvent, id: string) {
    const content = contents.get(eventId);
    const { channelId, author, createdAt } = data;
    const at = String(position);
    const doc = content && { id, author, createdAt, posted: at, changed: at, ...textsOf(content) };
    if (doc) await writer.add(channelId, doc, position);
  }

  async function indexEdit({ id: eventId, data, position }: ContentEvent, id: string) {
    const content = contents.get(eventId);
    const texts = content && { ...textsOf(content), changed: String(position) };
    const to = ({ names: _, botName: __, ...doc }: Doc): Doc => ({ ...doc, ...texts });
    if (texts) await writer.change(data.channelId, { id }, position, to);
  }

  const on: EventHandlers<RecordedEvent<Indexed>, Promise<void>> = {
    MessagePosted: (event) => indexPost(event, event.data.messageId),
    ReplyPosted: (event) => indexPost(event, event.data.replyId),
    MessageEdited: (event) => indexEdit(event, event.data.messageId),
    MessageDeleted: ({ data: { messageId: id, channelId }, position }) =>
      writer.change(channelId, { id, thread: parentOf(id) === undefined }, position),
    ChannelErased: ({ data: { channelId } }) => writer.forget(channelId),
  };

  return async (events) => {
    try {
      contents = await openContents(events);
      for (const event of events) {
        await handlerFor(on, event)?.(event);
        await yieldIfDue();
      }
      await writer.flush();
    } catch (error) {
      // The cache may be ahead of the rows: starts again from the rows.
      writer = startIndexWriter(build, maxCachedChannels);
      throw error;
    } finally {
      contents = new Map();
    }
  };
}

/**
 * Adds messages to the newest block of their channel, until it is full. Block boundaries depend only on the events, so
 * every build has the same. There must be only one writer per build.
 */
function startIndexWriter(build: Build, maxCachedChannels: number) {
  const { vault } = build;
  const rows = build.collection<BlockRow>(BLOCKS);
  /** By channel, least recently used first. */
  const newest = new Map<string, Block>();
  /** By id, in the order of their first change. */
  const dirty = new Map<string, Block>();

  /** A full block has a filter. */
  async function load(row: BlockRow): Promise<Block> {
    const { _id: id, channel, size, isFull } = row;
    const [first, last, at] = [row.first.toBigInt(), row.last.toBigInt(), row._at.toBigInt()];
    return { id, channel, first, last, at, size, docs: await openDocs(vault, row), isFull };
  }

  async function findNewest(channel: string): Promise<Block | undefined> {
    const known = newest.get(channel);
    newest.delete(channel);
    if (known) return known;
    const [row] = await rows.find({ channel }).sort({ first: -1 }).limit(1).toArray();
    // A change may have loaded it already.
    return row && (dirty.get(row._id) ?? load(row));
  }

  async function add(channel: string, doc: Doc, position: Position): Promise<void> {
    let block = await findNewest(channel);
    if (!block || (block.isFull && block.last < position)) {
      const span = { first: position, last: -1n, at: position };
      block = { id: idOf(channel, position), channel, ...span, size: 0, docs: [], isFull: false };
    }
    newest.set(channel, block);
    // Redelivered.
    if (position <= block.last) return;
    block.docs.push(doc);
    block.size += charactersOf(doc);
    block.isFull = block.docs.length >= PER_BLOCK || block.size >= BLOCK_SIZE;
    block.last = position;
    block.at = position;
    dirty.set(block.id, block);
  }

  /**
   * Replaces or deletes a doc, with `thread` also all replies to it. Call once per event: a second call for the same
   * event has no effect.
   */
  async function change(
    channel: string,
    { id, thread }: { readonly id: string; readonly thread?: boolean },
    position: Position,
    to?: (doc: Doc) => Doc,
  ): Promise<void> {
    const isTarget = (doc: Doc) =>
      (doc.id === id || (thread && parentOf(doc.id) === id)) && BigInt(doc.changed) < position;
    const update = (block: Block) => {
      if (!block.docs.some(isTarget)) return;
      block.docs = block.docs.flatMap((doc) => (!isTarget(doc) ? doc : to ? to(doc) : []));
      if (block.at < position) block.at = position;
      dirty.set(block.id, block);
    };
    // The rows of blocks in memory may be outdated.
    const inMemory = new Map(
      [...dirty.values()].filter((each) => each.channel === channel).map((each) => [each.id, each]),
    );
    const current = newest.get(channel);
    if (current) inMemory.set(current.id, current);
    inMemory.forEach(update);
    // Two queries, as a store may scan the whole collection for an `$or` of two indexes.
    for (const filter of thread ? [{ ids: id }, { threads: id }] : [{ ids: id }])
      for await (const row of rows.find(filter)) {
        if (!inMemory.has(row._id)) update(dirty.get(row._id) ?? (await load(row)));
        if (dirty.size >= MAX_DIRTY_BLOCKS) await flush();
      }
  }

  async function flush(): Promise<void> {
    const writes: RowWrite[] = [];
    for (const block of dirty.values()) writes.push(await writeOf(vault, block));
    dirty.clear();
    await build.write(BLOCKS, writes);
    for (const channel of newest.keys()) {
      if (newest.size <= maxCachedChannels) break;
      newest.delete(channel);
    }
  }

  async function forget(channel: string): Promise<void> {
    await flush();
    newest.delete(channel);
    await build.write(BLOCKS, [{ deletePieces: { filter: { channel } } }]);
  }

  return { add, change, flush, forget };
}

/**
 * Lists the index message by message, to compare builds: by id, decrypted, as two builds seal differently. How messages
 * are grouped into blocks is not compared: it differs after a scavenge.
 */
async function* scan({ vault, collection }: Build): AsyncGenerator<Row> {
  for await (const row of collection<BlockRow>(BLOCKS).find({}, { sort: { _id: 1 } }))
    for (const doc of await openDocs(vault, row))
      yield { _id: idOf(row.channel, BigInt(doc.posted)), _at: longOf(BigInt(doc.changed)), doc };
}
