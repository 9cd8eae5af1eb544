/** Tracks presence: status set by users, open streams at this node, and streams of dead nodes. */

import { randomUUID } from 'node:crypto';
import {
  GRACE_MS,
  type PresenceCommand,
  type PresenceState,
  presence,
  presenceStream,
  type Status,
} from '../../../domain/chat/presence.js';
import type { RosterState } from '../../../domain/chat/roster.js';
import { resultOf } from '../../command/index.js';
import { awaitConsistent, type PositionedRow, withRows } from '../../consistency/index.js';
import type { CommandContext, Position } from '../../ports/index.js';
import { presenceAggregate } from '../aggregates.js';
import type { ChatPorts } from '../sign-in/authenticate.js';

export interface PresencePorts
  extends Pick<
    ChatPorts,
    'handle' | 'log' | 'rows' | 'projectionProgress' | 'leases' | 'clock' | 'logger' | 'admission'
  > {
  readonly systemContext: (actor: string) => CommandContext;
  /** Name of this node, the same after a restart. */
  readonly node: string;
  readonly graceMs?: number;
}

interface PresenceRow extends PositionedRow {
  readonly _id: string;
  readonly status: Status;
  readonly lastSeen: number;
  readonly runs: readonly string[];
}

/** A user with open streams at this node, now or within the grace period. */
interface LocalUser {
  streams: number;
  /** Runs when the grace period ends. */
  departureTimer?: NodeJS.Timeout | undefined;
}

export const SWEEP_EVERY_MS = 5000;
const CONCURRENCY = 32;
const SEPARATOR = '~';

/** Periodic work of a node; its lease shows that the node is alive. */
export const presenceWork = (node: string): string => `chat.presence-${node}`;
const nodeOf = (run: string): string => run.slice(0, run.indexOf(SEPARATOR));

export type Presence = ReturnType<typeof createPresence>;

export function createPresence(ports: PresencePorts) {
  const { handle, log, rows, projectionProgress, leases, clock, admission, node, systemContext, logger } = ports;
  const { graceMs = GRACE_MS } = ports;
  const run = `${node}${SEPARATOR}${randomUUID().slice(0, 8)}`;
  const localUsers = new Map<string, LocalUser>();

  async function change(command: PresenceCommand, context: CommandContext) {
    const stream = presenceStream(command.userId);
    const limitStream = async () => {
      // Frequent changes must not fill the log.
      if ((await admission.load(presenceAggregate, stream)).revision < 0) await log.retain(stream, { maxCount: 1 });
    };
    return handle(presenceAggregate, stream, command, context, limitStream);
  }

  const recordConnection = (type: 'Connect' | 'Disconnect', userId: string, at = run) =>
    change({ type, userId, run: at, now: clock.now() }, systemContext('chat.presence'));

  /** Records whether a user is at this node now; the next sweep corrects a failure. */
  async function recordPresence(userId: string) {
    try {
      await recordConnection(localUsers.has(userId) ? 'Connect' : 'Disconnect', userId);
    } catch (error) {
      logger.warn({ err: error }, 'presence could not be recorded; retrying');
    }
  }

  /** Registers an open stream; returns a function to call when it closes. */
  function trackStream(userId: string): () => void {
    const known = localUsers.get(userId);
    const each: LocalUser = known ?? { streams: 0 };
    each.streams++;
    clearTimeout(each.departureTimer);
    if (!known) {
      localUsers.set(userId, each);
      void recordPresence(userId);
    }
    return () => {
      each.streams--;
      if (each.streams > 0) return;
      const depart = () => {
        localUsers.delete(userId);
        void recordPresence(userId);
      };
      // Must not keep a stopping process alive.
      each.departureTimer = setTimeout(depart, graceMs).unref();
    };
  }

  /**
   * Corrects what the rows have of users at this node, and of runs of dead nodes. Rows may be behind: a command that
   * changes nothing appends nothing.
   */
  async function sweep(stop: AbortSignal): Promise<void> {
    const known = await rows.find<PresenceRow>('chat.presence', { filter: { isConnected: true } });
    const recorded = new Set(known.flatMap(({ _id, runs }) => (runs.includes(run) ? [_id] : [])));
    const wrong = [
      // Another node may have considered this one dead while it was paused.
      ...[...localUsers.keys()].filter((userId) => !recorded.has(userId)),
      ...[...recorded].filter((userId) => !localUsers.has(userId)),
    ];
    const stale = await findStaleRuns(known);
    const work = [
      ...wrong.map((userId) => () => recordPresence(userId)),
      ...stale.map((each) => () => recordConnection('Disconnect', each.userId, each.run)),
    ];
    for (let from = 0; from < work.length && !stop.aborted; from += CONCURRENCY)
      await Promise.all(work.slice(from, from + CONCURRENCY).map((each) => each()));
  }

  /** Runs without a live node: earlier ones of this node, and those of nodes without a lease. */
  async function findStaleRuns(known: readonly PresenceRow[]) {
    const runs = known.flatMap(({ _id: userId, runs }) => runs.map((each) => ({ userId, run: each })));
    const nodes = new Set(runs.map((each) => nodeOf(each.run)).filter((each) => each !== node));
    const deadNodes = new Set<string>();
    for (const each of nodes)
      if ((await leases.holder(`periodic:${presenceWork(each)}`)) === undefined) deadNodes.add(each);
    return runs.filter((each) => (nodeOf(each.run) === node ? each.run !== run : deadNodes.has(nodeOf(each.run))));
  }

  async function set(userId: string, status: Status, context: CommandContext) {
    const outcome = await change({ type: 'SetStatus', userId, status, now: clock.now() }, context);
    return resultOf(outcome, (state) => ({ presence: viewOf(userId, state) }));
  }

  /** Presence of all users; without events a user is offline since being added. */
  async function list(seenByCaller?: Position) {
    const freshness = await awaitConsistent(projectionProgress, 'chat.presence', {
      lastAppend: projectionProgress.latestOf('chat'),
      seenByCaller,
    });
    const [found, { state: roster }] = await Promise.all([
      rows.find<PresenceRow>('chat.presence', { filter: {} }),
      admission.roster(seenByCaller),
    ]);
    return { presence: viewsOf(found, roster), ...withRows(freshness, found) };
  }

  return { trackStream, sweep, set, list };
}

const viewOf = (userId: string, { status, lastSeen }: Pick<PresenceState, 'status' | 'lastSeen'>) => ({
  userId,
  status,
  lastSeen,
});

function* viewsOf(found: readonly PresenceRow[], { users }: RosterState) {
  const known = new Map(found.map((row) => [row._id, row]));
  const { initialState } = presence;
  for (const { id, createdAt, isRemoved } of users.values())
    if (!isRemoved) yield viewOf(id, known.get(id) ?? { ...initialState, lastSeen: createdAt });
}
