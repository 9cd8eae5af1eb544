/** Which processes of an installation live, and where they can be reached: each says so in a row of its own. */
import type { Collection, Db } from 'mongodb';
import type { Clock, Members } from '../../../application/ports/index.js';
import { type After, afterAll } from '../../platform/process/timer.js';

export interface MembersOptions {
  /** How often a process says that it lives, and looks who else does. */
  readonly beatMs?: number;
  /** Who has not said so for this long is gone. */
  readonly lostMs?: number;
  /** Told after each look. */
  readonly looked?: () => void;
  readonly failed?: (error: unknown) => void;
  /** The names of those that live, and can't be reached from here: they are told of it by this row. */
  readonly unreached?: () => readonly string[];
  /** Only ever goes on. */
  readonly clock?: Clock;
  readonly after?: After;
}

export interface OpenMembers extends Members {
  /** Ends what is said of this process. */
  leave(): Promise<void>;
}

interface Row {
  /** The name of the process. */
  readonly _id: string;
  readonly address: string;
  readonly beats: number;
  /** Whom it can't reach; absent from what older releases write. */
  readonly unreached?: readonly string[];
}

interface Seen extends Row {
  /** When it was first seen with as many beats. */
  readonly since: number;
}

const BEAT_MS = 1000;
const LOST_MS = 4000;
/** What is left of a process that was killed goes after so long. */
const FORGET_MS = 60_000;

/**
 * Says that `run` can be reached at `address`, and resolves once it stands there and the others are known. Nobody's
 * clock is believed: whoever looks goes by its own, and counts only the time in which it did look.
 */
export async function joinMembers(
  db: Db,
  { run, address }: { readonly run: string; readonly address: string },
  options: MembersOptions = {},
): Promise<OpenMembers> {
  const {
    beatMs = BEAT_MS,
    lostMs = LOST_MS,
    looked,
    failed,
    unreached = () => [],
    clock = performance,
    after = afterAll,
  } = options;
  const rows: Collection<Row> = db.collection<Row>('members');
  let seen = new Map<string, Seen>();
  let lastLook = clock.now();
  let looking: Promise<void> | undefined;
  let beating: Promise<void> | undefined;
  let [hasLeft, callOff] = [false, () => {}];

  const beat = () =>
    rows.updateOne({ _id: run }, { $set: { address, unreached: unreached() }, $inc: { beats: 1 } }, { upsert: true });

  async function lookNow() {
    const found = await rows.find({}).toArray();
    const now = clock.now();
    // While nobody looked nobody was seen to be silent.
    const unseen = now - lastLook > 2 * beatMs ? now - lastLook : 0;
    lastLook = now;
    const isSame = (row: Row) => seen.get(row._id)?.beats === row.beats;
    const next = found.map((row) => {
      const since = isSame(row) ? seen.get(row._id)!.since + unseen : now;
      return [row._id, { ...row, since }] as const;
    });
    seen = new Map(next);
    const old = [...seen.values()].filter(({ since }) => now - since > FORGET_MS);
    for (const { _id, beats } of old) await rows.deleteOne({ _id, beats });
    looked?.();
  }

  const look = () => {
    looking ??= lookNow().finally(() => {
      looking = undefined;
    });
    return looking;
  };

  const lives = ({ _id, since }: Seen) => _id === run || lastLook - since < lostMs;

  function goOn() {
    beating = (async () => {
      await beat();
      await look();
    })().catch((error) => failed?.(error));
    void beating.then(() => {
      if (!hasLeft) callOff = after(beatMs, goOn);
    });
  }

  await beat();
  await look();
  callOff = after(beatMs, goOn);

  return {
    look,
    liveNodes: () => new Set([run, ...[...seen.values()].filter(lives).map(({ _id }) => _id)]),
    address(of) {
      const found = seen.get(of);
      return found && lives(found) ? found.address : undefined;
    },
    beats: (of) => seen.get(of)?.beats,
    unreachedBy: () =>
      [...seen.values()]
        .filter((each) => each._id !== run && lives(each) && each.unreached?.includes(run))
        .map(({ _id }) => _id),
    async leave() {
      hasLeft = true;
      callOff();
      await beating;
      await rows.deleteOne({ _id: run });
    },
  };
}
