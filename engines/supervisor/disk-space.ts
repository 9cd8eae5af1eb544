/** Refuses writes to a store while its disk is full, and takes them again when there is room. */
import { closeSync, fstatSync, ftruncateSync, openSync, statfsSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname } from 'node:path';

/** Writes are refused while fewer bytes are free: some are for the rest of the machine, and for a batch that is being written. */
const RESERVE_BYTES = 64 << 20;
/** The reserve on a small disk, as a share of it. */
const RESERVE_SHARE = 1 / 20;
/** Writes are taken again at so many times the reserve: so each write does not switch between full and not. */
const RESUME_RESERVES = 1.25;
/** After a write has failed for lack of room, the file of the store must be able to grow by so many bytes. */
const TRIAL_BYTES = 1 << 20;
const TRIAL_MS = 1000;

/** No room for a write; nothing of it was stored. */
export class DiskFull extends Error {
  override readonly name = 'DiskFull';
}

export interface DiskSpace {
  /** Throws `DiskFull` when a write has no room. To be called before each, while none is under way. */
  check(): void;
  /** Finds out why a commit of lmdb has failed: `DiskFull` where there was no room for it. */
  explain(failure: unknown): Promise<Error>;
}

/** What else decides, for tests. */
interface Conditions {
  readonly now?: () => number;
  readonly statfs?: (path: string) => { bsize: number; blocks: number; bavail: number };
}

/** `file` is the file of the store; `report` is given one line when writes are refused, and one when they are taken again. */
export function watchDiskSpace(
  file: string,
  report: (line: string) => void,
  { now = () => performance.now(), statfs = statfsSync }: Conditions = {},
): DiskSpace {
  const directory = dirname(file);
  let isFull = false;
  /** When the file could not grow last, until it can. */
  let failedAt: number | undefined;

  function isBelowReserve(): boolean {
    try {
      const { bsize, blocks, bavail } = statfs(directory);
      const reserve = Math.min(RESERVE_BYTES, blocks * bsize * RESERVE_SHARE);
      return bavail * bsize < (isFull ? reserve * RESUME_RESERVES : reserve);
    } catch {
      // The directory was moved away, while its file is open still.
      return false;
    }
  }

  function isStuck(): boolean {
    if (failedAt === undefined) return false;
    if (now() - failedAt < TRIAL_MS) return true;
    failedAt = canGrow(file) ? undefined : now();
    return failedAt !== undefined;
  }

  function refuse(): DiskFull {
    const error = new DiskFull(`the disk of ${directory} is full: writes are refused until there is room`);
    if (!isFull) report(error.message);
    isFull = true;
    return error;
  }

  return {
    check() {
      if (isBelowReserve() || isStuck()) throw refuse();
      if (isFull) report(`the disk of ${directory} has room again: writes are taken`);
      isFull = false;
    },
    async explain(failure) {
      const error = await causeOf(failure);
      const code = (error as { code?: unknown }).code;
      // Of a page that fits in part lmdb says so, too.
      const isShort = code === constants.errno.EIO && (isBelowReserve() || !canGrow(file));
      if (!isShort && !NO_ROOM.has(code)) return error;
      failedAt = now();
      return refuse();
    },
  };
}

const { ENOSPC, EDQUOT, EFBIG } = constants.errno;
const NO_ROOM: ReadonlySet<unknown> = new Set([ENOSPC, EDQUOT, EFBIG]);

/** lmdb hands on why a commit has failed in a promise of the error, which rejects with it. */
async function causeOf(failure: unknown): Promise<Error> {
  const error = failure instanceof Error ? failure : new Error(String(failure));
  const { commitError } = error as { commitError?: Promise<never> };
  return commitError ? await commitError.catch((cause: Error) => cause) : error;
}

/** Whether bytes can be written behind the end of a file; they are taken away again. */
function canGrow(file: string): boolean {
  let open: number | undefined;
  try {
    open = openSync(file, 'r+');
    const { size } = fstatSync(open);
    try {
      return writeSync(open, Buffer.alloc(TRIAL_BYTES), 0, TRIAL_BYTES, size) === TRIAL_BYTES;
    } finally {
      ftruncateSync(open, size);
    }
  } catch {
    return false;
  } finally {
    if (open !== undefined) closeSync(open);
  }
}
