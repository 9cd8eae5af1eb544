/**
 * The transparency log over the event log: every event becomes an entry of a Merkle tree, whose root is signed every 1,000
 * events or minute (docs/guide/audit.md).
 */
import { sleep } from '../concurrency/index.js';
import type { Logger, Position, Subscribe } from '../ports/index.js';
import { type LeaderTask, untilCaughtUp } from '../subscription/index.js';
import { openCheckpoint, signCheckpoint } from './checkpoint.js';
import {
  type EventEntry,
  encodeAuditEntry,
  eventEntry,
  parseAuditEntry,
  positionOf,
  type StoredEvent,
} from './log-entry.js';
import { rootOf } from './merkle-tree.js';
import type { Signer } from './signed-note.js';
import {
  createTileWriter,
  decodeBundle,
  encodeEntry,
  MissingTileError,
  readBundle,
  splitHashes,
  TILE_WIDTH,
  type TileId,
} from './tiles.js';
import type { TreeHead, TreeStore } from './tree-store.js';
import { cosignNewest, publishedCheckpoint, type Witness } from './witnesses.js';

/** Events and ms after which a checkpoint is signed. */
const CHECKPOINT_EVENTS = 1000;
const CHECKPOINT_MS = 60_000;

/**
 * Milliseconds between two reads of new events. Reading them in batches costs a post less than a live subscription, which
 * wakes for each event.
 */
const PASS_MS = 5000;
const PASSES = CHECKPOINT_MS / PASS_MS;

export interface AuditPorts {
  readonly store: TreeStore;
  readonly followStored: Subscribe<StoredEvent>;
  /** The event at a position, if there is one. `head`: position of the last event; `isRefused`: there never was one. */
  readonly eventAt: (position: Position) => Promise<{
    readonly event?: StoredEvent | undefined;
    readonly head: Position;
    readonly isRefused?: boolean;
  }>;
  /** The signer of the key with this number, created at its first use. */
  readonly signer: (keyNumber: number) => Promise<Signer>;
  /** Prefixes of the streams in the log. */
  readonly prefixes: readonly string[];
  /** If there are any, a checkpoint counts once more than half of them have cosigned it. */
  readonly witnesses: readonly Witness[];
  readonly logger: Logger;
}

/** The log does not hold what the transparency log has covered. */
export class LogMismatchError extends Error {
  override readonly name = 'LogMismatchError';
}

/** Ms until a log that does not match is looked at again. */
const MISMATCH_MS = 600_000;

const MISMATCH =
  'the event log does not contain the last event of the transparency log, as after restoring a backup; no checkpoints ' +
  'are signed until "annals audit restart" records that';

/** Rejects with `LogMismatchError` if the event log does not contain the last event of the transparency log. */
export async function checkLastEvent({ store, eventAt }: Pick<AuditPorts, 'store' | 'eventAt'>): Promise<void> {
  const head = await store.head();
  if (!head || head.position === 0n) return;
  const at = await eventAt(head.position);
  const last = await lastEvent(store, head);
  const isOther = at.event !== undefined && last !== undefined && at.event.id !== last;
  if (at.head < head.position || at.isRefused || isOther) throw new LogMismatchError(MISMATCH);
}

/** Opens the transparency log for appending; for one process at a time. Rejects with `LogMismatchError`. */
async function openTransparencyLog(ports: AuditPorts) {
  await checkLastEvent(ports);
  return openUnchecked(ports);
}

async function openUnchecked({ store, signer: signerOf, witnesses }: AuditPorts) {
  let head = await store.head();
  const writer = createTileWriter(head && (await readOpenTiles(store, head.size)));

  return {
    get position() {
      return head?.position ?? 0n;
    },
    /**
     * Adds entries of events after the position, and signs a checkpoint.
     *
     * @param restart First record that the log continues from this position.
     */
    async append(entries: readonly EventEntry[], restart?: Position): Promise<void> {
      // Another process may have put another key in force.
      const stored = await store.head();
      const keyNumber = stored?.keyNumber ?? 1;
      const signer = await signerOf(keyNumber);
      const signers = [signer];
      const key = signer.verifier.line;
      const published = stored && publishedCheckpoint(stored, witnesses);
      // Those who trust the previous key can trust this one: a checkpoint has both signatures.
      if (keyNumber > 1 && !(published && openCheckpoint(published, [signer.verifier])))
        signers.push(await signerOf(keyNumber - 1));
      if (head?.key !== key) {
        writer.append(encodeAuditEntry({ key }));
      } else if (entries.length === 0 && restart === undefined && head.checkpoint !== undefined) return;
      const restarts = [...(head?.restarts ?? [])];
      if (restart !== undefined) {
        restarts.push({ index: writer.size, position: restart });
        writer.append(encodeAuditEntry({ restart: String(restart) }));
      }
      for (const entry of entries) writer.append(encodeAuditEntry(entry));
      const { size } = writer;
      const root = await rootOf(size, writer.edge());
      const last = entries.at(-1);
      const next: Omit<TreeHead, 'cosigned'> = {
        size,
        position: last ? BigInt(last.position) : (restart ?? head?.position ?? 0n),
        checkpoint: signCheckpoint({ origin: signer.verifier.name, size, root }, signers),
        key,
        keyNumber,
        restarts,
      };
      const tiles = writer.takeTiles();
      await store.append(
        tiles.map((tile) => (tile.level === 'entries' ? { ...tile, first: firstPosition(tile.bytes) } : tile)),
        next,
      );
      head = next;
    },
  };
}

/** Appends events as they are written. A task for the leader. */
export const auditTask =
  (ports: AuditPorts, wait: typeof sleep = sleep): LeaderTask =>
  async (lease, stop) => {
    const log = await openTransparencyLog(ports).catch((error) => {
      if (!(error instanceof LogMismatchError)) throw error;
      ports.logger.error({}, error.message);
    });
    if (!log) return wait(MISMATCH_MS, stop);
    let { position } = log;
    // Entries, as they are smaller than events.
    let pending: EventEntry[] = [];
    let cosigning: Promise<void> | undefined;
    const sign = async () => {
      lease.assertHeld();
      await log.append(pending);
      pending = [];
      // Not awaited: events do not wait for a slow witness.
      cosigning ??= cosignNewest(ports, stop)
        .catch((err) => ports.logger.warn({ err }, 'the transparency log could not be cosigned'))
        .finally(() => {
          cosigning = undefined;
        });
    };
    while (!stop.aborted) {
      for (let pass = 0; pass < PASSES && !stop.aborted; pass++) {
        for await (const { events } of newEvents(ports, position, stop)) {
          position = events.at(-1)?.position ?? position;
          pending.push(...events.map(eventEntry));
          if (pending.length >= CHECKPOINT_EVENTS) await sign();
        }
        await wait(PASS_MS, stop);
      }
      // Also without events: another process may have put another key in force.
      if (!stop.aborted) await sign();
    }
    await cosigning;
  };

/** Appends all events of the log. For a process that holds the lease. */
export async function catchUpTransparencyLog(ports: AuditPorts, stop: AbortSignal): Promise<void> {
  const log = await openTransparencyLog(ports);
  for await (const { events, caughtUp } of newEvents(ports, log.position, stop))
    if (events.length > 0 || caughtUp) await log.append(events.map(eventEntry));
  await cosignNewest(ports, stop);
}

/** Records that the log was restored and continues after `position`. For a process that holds the lease. */
export async function restartTransparencyLog(ports: AuditPorts, position: Position): Promise<void> {
  const log = await openUnchecked(ports);
  await log.append([], position);
}

/** Cuts the transparency log of a copy to a shorter log, whose last event has this position. */
export async function trimTransparencyLog(store: TreeStore, head: Position): Promise<void> {
  const { position = 0n, size = 0 } = (await store.head()) ?? {};
  if (position <= head) return;
  const index = (await store.findBundle(head)) ?? 0;
  // Entries of keys have no position.
  const positions = ((await readBundle(store.readTile, index, 0)) ?? []).map(positionIn);
  const firstLater = positions.findIndex((each) => each !== undefined && each > head);
  const remaining = firstLater < 0 ? positions : positions.slice(0, firstLater);
  const newSize = Math.min(size, index * TILE_WIDTH + remaining.length);
  await store.truncate(newSize, remaining.findLast((each) => each !== undefined) ?? 0n);
}

/** Events per batch: more would hold the event loop for longer while they are hashed. */
const BATCH_SIZE = 250;

/** Yields the events after a position up to the end of the log. */
async function* newEvents({ followStored, prefixes }: AuditPorts, position: Position, stop: AbortSignal) {
  const done = new AbortController();
  const signal = AbortSignal.any([stop, done.signal]);
  const from = position === 0n ? 'start' : position;
  try {
    yield* untilCaughtUp(followStored({ prefixes, from, signal, batchSize: BATCH_SIZE }));
  } finally {
    done.abort();
  }
}

async function readOpenTiles(store: TreeStore, size: number) {
  const read = async (tile: TileId, width: number) => {
    const bytes = width === 0 ? Buffer.alloc(0) : await store.readTile(tile, width);
    if (!bytes) throw new MissingTileError(tile);
    return bytes;
  };
  const entries = size % TILE_WIDTH;
  const tile: TileId = { level: 'entries', index: Math.floor(size / TILE_WIDTH) };
  const bundle = decodeBundle(await read(tile, entries))
    ?.slice(0, entries)
    .map(encodeEntry);
  if (bundle?.length !== entries) throw new MissingTileError(tile);
  const levels = [];
  for (let level = 0; TILE_WIDTH ** level <= size; level++) {
    const width = Math.floor(size / TILE_WIDTH ** level) % TILE_WIDTH;
    const bytes = await read({ level, index: Math.floor(size / TILE_WIDTH ** (level + 1)) }, width);
    levels.push(splitHashes(bytes).slice(0, width));
  }
  return { size, bundle, levels };
}

/** Id of the event of the last entry, if it is that of an event. */
async function lastEvent(store: TreeStore, { size }: TreeHead): Promise<string | undefined> {
  const index = Math.floor((size - 1) / TILE_WIDTH);
  const line = (await readBundle(store.readTile, index, size - index * TILE_WIDTH))?.[size - 1 - index * TILE_WIDTH];
  const entry = line && parseAuditEntry(line);
  return entry && 'position' in entry ? entry.id : undefined;
}

function positionIn(line: Buffer): Position | undefined {
  const entry = parseAuditEntry(line);
  return entry && positionOf(entry);
}

function firstPosition(bundle: Buffer): Position | undefined {
  const line = decodeBundle(bundle)?.find((each) => positionIn(each) !== undefined);
  return line && positionIn(line);
}
