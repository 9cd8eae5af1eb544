/** Projects the search index, which finds messages by parts of words without decrypting all of them. */

import type { Collection } from 'mongodb';
import { createYielder } from '../../../application/concurrency/index.js';
import type { Position, RecordedEvent, Vault } from '../../../application/ports/index.js';
import type { ChatEvent } from '../../../domain/chat/catalog.js';
import type { MessageContent } from '../../../domain/chat/events/messages.js';
import { type EventHandlers, handlerFor } from '../../../domain/shared/index.js';
import { type Apply, type Build, longOf, type OwnProjection, type Row } from '../../kernel/index.js';
import { lineOf } from './blocks.js';
import { startIndexWriter } from './index-writer.js';
import { type Line, Texts } from './packed-text.js';
import {
  type Doc,
  idOf,
  openDocs,
  PACK_INDEXES,
  PACKS,
  type PackRow,
  RUN_INDEXES,
  RUNS,
  type RunRow,
  subjectOf,
} from './rows.js';

type Indexed = ChatEvent<
  | 'MessagePosted'
  | 'MessageEdited'
  | 'MessageDeleted'
  | 'ReplyPosted'
  | 'ReplyEdited'
  | 'ReplyDeleted'
  | 'ChannelErased'
>;
const INDEXED: { readonly [Type in Indexed['type']]: true } = {
  MessagePosted: true,
  MessageEdited: true,
  MessageDeleted: true,
  ReplyPosted: true,
  ReplyEdited: true,
  ReplyDeleted: true,
  ChannelErased: true,
};

/** Isolated, so that reading a channel never waits for indexing. `maxCachedDocs` bounds the writer's cache. */
export const searchOf = (maxCachedDocs?: number): OwnProjection => ({
  name: 'chat.search',
  version: 3,
  types: Object.keys(INDEXED),
  isolated: true,
  open: (build) => open(build, maxCachedDocs),
  scan,
});

export const search = searchOf();

type ContentEvent = RecordedEvent<ChatEvent<'MessagePosted' | 'MessageEdited' | 'ReplyPosted' | 'ReplyEdited'>>;

async function open(build: Build, maxCachedDocs?: number): Promise<Apply> {
  const { vault } = build;
  await build.collection(RUNS).createIndexes(RUN_INDEXES);
  await build.collection(PACKS).createIndexes(PACK_INDEXES);
  let writer = startIndexWriter(build, maxCachedDocs);
  const yieldIfDue = createYielder();

  /** Searchable text of a message; undefined when its key was destroyed. */
  async function extractText({ data: { channelId, secret } }: ContentEvent) {
    // Bypasses the plaintext cache: a rebuild would evict everything that is being read.
    const [body] = (await vault.openMany(subjectOf(channelId), [secret])) as readonly (MessageContent | undefined)[];
    if (!body) return undefined;
    const { content, attachments, botName } = body;
    const names = attachments.map(({ originalName }) => originalName);
    return { content, ...(names.length > 0 && { names }), ...(botName !== undefined && { botName }) };
  }

  async function indexPost(event: ContentEvent, id: string) {
    const { data, position } = event;
    const words = await extractText(event);
    const { channelId, author, createdAt } = data;
    const at = String(position);
    if (words) await writer.add(channelId, { id, author, createdAt, posted: at, changed: at, ...words }, position);
  }

  async function indexEdit(event: ContentEvent, id: string) {
    const words = await extractText(event);
    const changed = String(event.position);
    const to = ({ names: _, botName: __, ...doc }: Doc): Doc => ({ ...doc, ...words, changed });
    if (words) await writer.change(event.data.channelId, { id }, event.position, to);
  }

  const on: EventHandlers<RecordedEvent<Indexed>, Promise<void>> = {
    MessagePosted: (event) => indexPost(event, event.data.messageId),
    ReplyPosted: (event) => indexPost(event, event.data.replyId),
    MessageEdited: (event) => indexEdit(event, event.data.messageId),
    ReplyEdited: (event) => indexEdit(event, event.data.replyId),
    MessageDeleted: ({ data: { messageId: id, channelId }, position }) =>
      writer.change(channelId, { id, thread: true }, position),
    ReplyDeleted: ({ data: { replyId: id, channelId }, position }) => writer.change(channelId, { id }, position),
    ChannelErased: ({ data: { channelId } }) => writer.forget(channelId),
  };

  return async (events) => {
    try {
      for (const event of events) {
        await handlerFor(on, event)?.(event);
        await yieldIfDue();
      }
      await writer.flush();
    } catch (error) {
      // The cache may be ahead of the rows: starts again from the rows.
      writer = startIndexWriter(build, maxCachedDocs);
      throw error;
    }
  };
}

type Lines = ReadonlyMap<Position, Line>;
const NO_LINES: Lines = new Map();

/**
 * Lists the index message by message, to compare builds: by id, decrypted, as two builds seal differently, without
 * deleted messages. How messages are grouped into runs and packs is not compared: it differs after a scavenge.
 */
async function* scan({ vault, collection }: Build): AsyncGenerator<Row> {
  const linesUpTo = createPackReader(collection(PACKS), vault);
  for await (const run of collection<RunRow>(RUNS).find({}, { sort: { _id: 1 } })) {
    const { channel, open } = run;
    const lines = await linesUpTo(run._id);
    for (const doc of (await openDocs(vault, run)) ?? []) {
      const posted = BigInt(doc.posted);
      // As a search sees it: from the run itself until it is packed.
      const line = open ? lineOf(doc, 0) : lines.get(posted);
      const { author, text } = line ?? {};
      if (doc.gone && !author && !text) continue;
      yield { _id: idOf(channel, posted), _at: longOf(BigInt(doc.changed)), doc, found: { author, text } };
    }
  }
}

/** Returns the lines of the pack that contains a run, if any. Runs must be passed in ascending order. */
function createPackReader(rows: Collection<PackRow>, vault: Vault): (run: string) => Promise<Lines> {
  const packs = rows.find({}, { sort: { _id: 1 } })[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<PackRow, unknown>> | undefined;
  let lines = NO_LINES;
  return async (run) => {
    for (;;) {
      next ??= packs.next();
      const { done, value } = await next;
      if (done || value._id > run) return lines;
      next = undefined;
      const bytes = await vault.openBytes(subjectOf(value.channel), value.texts.buffer);
      const opened = bytes ? new Texts(bytes, value.authors).lines() : [];
      lines = new Map(opened.map((line) => [line.posted, line]));
    }
  };
}
