/** Tracks the live processes of an installation and their addresses: each keeps a heartbeat row. */
import type { Collection, Db } from 'mongodb';
import { type After, createSingleFlight, systemTimer } from '../../../application/concurrency/index.js';
import type { Clock, Members } from '../../../application/ports/index.js';

export interface MembersOptions {
  /** Milliseconds between heartbeats, and between refreshes of the member list. */
  readonly beatMs?: number;
  /** Milliseconds without a heartbeat after which a process counts as dead. */
  readonly lostMs?: number;
  readonly onRefresh?: () => void;
  readonly onError?: (error: unknown) => void;
  /** Live nodes that this one cannot connect to; published in its row. */
  readonly listUnreachable?: () => readonly string[];
  readonly clock?: Clock;
  readonly after?: After;
}

export type OpenMembers = Awaited<ReturnType<typeof joinMembers>>;

interface Row {
  readonly _id: string;
  readonly address: string;
  readonly beats: number;
  readonly unreached: readonly string[];
}

interface Member extends Row {
  /** When this heartbeat count was first seen. */
  readonly since: number;
}

const BEAT_MS = 1000;
const LOST_MS = 4000;
/** Milliseconds after which the row of a dead process is deleted. */
const FORGET_MS = 60_000;

/**
 * Publishes the address of the process `run`. Resolves when its row is written and the other members are known. Each
 * process uses its own monotonic clock, and counts only the time in which it refreshed the list.
 */
export async function joinMembers(
  db: Db,
  { run, address }: { readonly run: string; readonly address: string },
  options: MembersOptions = {},
) {
  const {
    beatMs = BEAT_MS,
    lostMs = LOST_MS,
    onRefresh,
    onError,
    listUnreachable = () => [],
    clock = performance,
    after = systemTimer,
  } = options;
  const rows: Collection<Row> = db.collection<Row>('members');
  let members = new Map<string, Member>();
  let lastRefresh = clock.now();
  const singleFlight = createSingleFlight();
  let heartbeat: Promise<void> | undefined;
  let [isStopped, cancel] = [false, () => {}];

  const beat = () =>
    rows.updateOne(
      { _id: run },
      { $set: { address, unreached: listUnreachable() }, $inc: { beats: 1 } },
      { upsert: true },
    );

  async function refreshNow() {
    const found = await rows.find({}).toArray();
    const now = clock.now();
    // Time without refreshes does not count against other members.
    const blindMs = now - lastRefresh > 2 * beatMs ? now - lastRefresh : 0;
    lastRefresh = now;
    const isSame = (row: Row) => members.get(row._id)?.beats === row.beats;
    const next = found.map((row) => {
      const since = isSame(row) ? members.get(row._id)!.since + blindMs : now;
      return [row._id, { ...row, since }] as const;
    });
    members = new Map(next);
    const dead = [...members.values()].filter(({ since }) => now - since > FORGET_MS);
    for (const { _id, beats } of dead) await rows.deleteOne({ _id, beats });
    onRefresh?.();
  }

  const refresh = () => singleFlight('members', refreshNow);

  const isAlive = ({ _id, since }: Member) => _id === run || lastRefresh - since < lostMs;

  function runHeartbeat() {
    heartbeat = (async () => {
      await beat();
      await refresh();
    })().catch((error) => onError?.(error));
    void heartbeat.then(() => {
      if (!isStopped) cancel = after(beatMs, runHeartbeat);
    });
  }

  await beat();
  await refresh();
  cancel = after(beatMs, runHeartbeat);

  return {
    look: refresh,
    liveNodes: () => new Set([run, ...[...members.values()].filter(isAlive).map(({ _id }) => _id)]),
    address(of) {
      const member = members.get(of);
      return member && isAlive(member) ? member.address : undefined;
    },
    beats: (of) => members.get(of)?.beats,
    unreachedBy: () =>
      [...members.values()]
        .filter((each) => each._id !== run && isAlive(each) && each.unreached.includes(run))
        .map(({ _id }) => _id),
    /** Stops the heartbeat and removes the row. */
    async leave() {
      isStopped = true;
      cancel();
      await heartbeat;
      await rows.deleteOne({ _id: run });
    },
  } satisfies Members & { leave(): Promise<void> };
}
