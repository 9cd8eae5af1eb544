/** The nodes of an installation, each connected to every other (docs/guide/cluster.md). */
import type { Cluster, Logger, Members, MessageHandler } from '../../application/ports/index.js';
import { type After, afterAll } from '../platform/process/timer.js';
import { openDoor } from './listener.js';
import { createLink, type Link } from './peer-connection.js';

export interface MeshOptions {
  /** Names this process, at no other start. */
  readonly run: string;
  /** What only nodes of this installation can derive; 32 bytes. */
  readonly key: Buffer;
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Where the others reach it, if not there: `host`, or `host:port`. */
  readonly address?: string | undefined;
  /** Makes it known where this one can be reached; `looked` is to be told whenever it was looked who is there. */
  readonly join: (
    address: string,
    looked: () => void,
    /** Those that live and can't be reached, now: to be made known, too. */
    unreached: () => readonly string[],
  ) => Promise<Members & { leave(): Promise<void> }>;
  readonly observe?: MeshObserver | undefined;
  readonly logger: Logger;
  readonly after?: After;
}

export interface MeshObserver {
  /** To how many others this one is connected. */
  connected(total: number): void;
  /** Something was said to another. */
  said(): void;
  /** What was said was lost: the other one has gone, or takes nothing. */
  lost(): void;
}

export interface OpenMesh {
  /** Where the others reach this one. */
  readonly address: string;
  /** Speaks, and hears, on a channel of its own; once for each. */
  channel(name: string): Cluster;
  /** The names of others that can't reach this one. */
  unreachedBy(): readonly string[];
  close(): Promise<void>;
}

export async function openMesh({
  run: nodeId,
  key,
  host,
  port,
  address: wanted,
  join,
  observe,
  logger,
  after = afterAll,
}: MeshOptions): Promise<OpenMesh> {
  const hears = new Map<string, MessageHandler>();
  const door = await openDoor({ run: nodeId, key, host, port, hears, logger, after });
  const address = addressOf(wanted ?? host, door.port);
  const links = new Map<string, Link>();
  /** Those of whom it is asked just now where they are, and what waits for that. */
  const sought = new Map<string, Promise<Link | undefined>>();
  let waitingBytes = 0;
  /** Those who were not there at the last look. */
  const missing = new Set<string>();
  /** Those who live where nobody answers. */
  const unreachable = new Set<string>();
  let isUnreached = false;
  let connected = 0;
  let hasClosed = false;
  let members: Members & { leave(): Promise<void> };

  function linkTo(to: string): Link {
    const changed = (isOpen: boolean) => {
      connected += isOpen ? 1 : -1;
      unreachable.delete(to);
      observe?.connected(connected);
      logger.debug({ to, isOpen }, 'the connection to another node has changed');
    };
    const lost = () => observe?.lost();
    const unreached = (at: string) => {
      unreachable.add(to);
      logger.warn({ to, address: at }, UNREACHED);
    };
    const where = () => members.address(to);
    const beats = () => members.beats(to);
    return createLink({ run: nodeId, to, key, address: where, beats, changed, lost, unreached, after });
  }

  function looked() {
    // Of the first look it is told before it is over.
    if (!members || hasClosed) return;
    missing.clear();
    const alive = members.liveNodes();
    for (const to of alive) if (to !== nodeId && !links.has(to)) links.set(to, linkTo(to));
    for (const [to, link] of links) {
      if (alive.has(to)) continue;
      links.delete(to);
      unreachable.delete(to);
      link.close();
    }
    const by = members.unreachedBy();
    if (by.length > 0 && !isUnreached) logger.warn({ by, address }, NOT_REACHED);
    isUnreached = by.length > 0;
  }

  /** Of one that has come a moment ago, perhaps: before the next look. */
  async function seek(to: string): Promise<Link | undefined> {
    await members.look().catch(() => {});
    if (!links.has(to)) missing.add(to);
    sought.delete(to);
    return links.get(to);
  }

  /** At once where it is known: what is said first must come first. `bytes` that nobody waits with may be too many. */
  function found(to: string, bytes: number): Link | undefined | Promise<Link | undefined> {
    const known = links.get(to);
    if (!sought.has(to) && (known || missing.has(to) || hasClosed)) return known;
    if (bytes > 0 && waitingBytes > MOST_WAITING) return undefined;
    const seeking = sought.get(to) ?? seek(to);
    sought.set(to, seeking);
    waitingBytes += bytes;
    return seeking.finally(() => {
      waitingBytes -= bytes;
    });
  }

  try {
    members = await join(address, looked, () => [...unreachable]);
  } catch (error) {
    await door.close();
    throw error;
  }
  looked();

  const channel = (name: string): Cluster => ({
    hear: (hear) => void hears.set(name, hear),
    nodeId,
    liveNodes: () => members.liveNodes(),
    send(to, said) {
      observe?.said();
      const tell = (link: Link | undefined) => (link ? link.tell(name, said) : observe?.lost());
      const link = found(to, Buffer.byteLength(said.body));
      if (link instanceof Promise) void link.then(tell);
      else tell(link);
    },
    async request(to, target, said) {
      observe?.said();
      const known = found(to, 0);
      const link = known instanceof Promise ? await known : known;
      if (link) return link.ask(name, target, said);
      observe?.lost();
      return false;
    },
  });

  return {
    address,
    channel,
    unreachedBy: () => members.unreachedBy(),
    async close() {
      hasClosed = true;
      for (const link of links.values()) link.close();
      await Promise.all([door.close(), members.leave().catch((err) => logger.warn({ err }, STAYED))]);
    },
  };
}

/** Of what is said to those of whom it is asked where they are. */
const MOST_WAITING = 8 * 1024 * 1024;

const UNREACHED =
  'another node lives, and can not be reached where it says: mesh.host and mesh.address are what others see of a machine';

const NOT_REACHED =
  'other nodes can not reach this one: what is said live does not come here; see mesh.host and mesh.address, and what stands between';

const STAYED = 'this node could not say that it goes: the others will see it';

/** Where others reach it: a port stands in the name, or the one that is listened at is meant. */
function addressOf(name: string, port: number): string {
  if (/^[^:]+:\d+$|\]:\d+$/.test(name)) return name;
  return `${name.includes(':') && !name.startsWith('[') ? `[${name}]` : name}:${port}`;
}
