/** Refuses writes to a store while its disk is full and accepts them again once there is room. */
import { closeSync, fstatSync, ftruncateSync, openSync, statfsSync, writeSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname } from 'node:path';

/**
 * Free bytes below which writes are refused. Leaves room for the rest of the machine and for the batch being written.
 */
const RESERVE_BYTES = 64 << 20;
/** Maximum reserve as a share of the disk; applies to small disks. */
const RESERVE_SHARE = 1 / 20;
/** Writes resume at this multiple of the reserve, so that single writes do not toggle the state. */
const RESUME_RESERVES = 1.25;
/** After a write failed for lack of room, the store's file must be able to grow by this much before writes resume. */
const TRIAL_BYTES = 1 << 20;
const TRIAL_MS = 1000;

/** No room for a write; nothing was stored. */
export class DiskFull extends Error {
  override readonly name = 'DiskFull';
}

/** Clock and file system, replaceable in tests. */
interface Conditions {
  readonly now?: () => number;
  readonly statfs?: (path: string) => { bsize: number; blocks: number; bavail: number };
}

/**
 * Watches the disk of a store. `report` receives one line when writes are refused and one when they resume.
 * @param file The store's file.
 */
export function watchDiskSpace(
  file: string,
  report: (line: string) => void,
  { now = () => performance.now(), statfs = statfsSync }: Conditions = {},
) {
  const directory = dirname(file);
  let isFull = false;
  /** Time of the last failed attempt to grow the file; undefined once it can grow. */
  let failedAt: number | undefined;

  function isBelowReserve(): boolean {
    try {
      const { bsize, blocks, bavail } = statfs(directory);
      const reserve = Math.min(RESERVE_BYTES, blocks * bsize * RESERVE_SHARE);
      return bavail * bsize < (isFull ? reserve * RESUME_RESERVES : reserve);
    } catch {
      // The directory was moved away while its file is still open.
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
    /** Throws `DiskFull` when there is no room. Call before each write, while none is in progress. */
    check() {
      if (isBelowReserve() || isStuck()) throw refuse();
      if (isFull) report(`the disk of ${directory} has room again: writes are accepted`);
      isFull = false;
    },
    /** Finds the cause of a failed lmdb commit: `DiskFull` if there was no room for it. */
    async explain(failure: unknown) {
      const error = await causeOf(failure);
      const code = (error as { code?: unknown }).code;
      // lmdb also reports EIO for a page that fits only in part.
      const isShort = code === constants.errno.EIO && (isBelowReserve() || !canGrow(file));
      if (!isShort && !NO_ROOM.has(code)) return error;
      failedAt = now();
      return refuse();
    },
  };
}

const { ENOSPC, EDQUOT, EFBIG } = constants.errno;
const NO_ROOM: ReadonlySet<unknown> = new Set([ENOSPC, EDQUOT, EFBIG]);

/** Unwraps lmdb's commit error, which arrives as a promise that rejects with the cause. */
async function causeOf(failure: unknown): Promise<Error> {
  const error = failure instanceof Error ? failure : new Error(String(failure));
  const { commitError } = error as { commitError?: Promise<never> };
  return commitError ? await commitError.catch((cause: Error) => cause) : error;
}

/** Tests whether the file can grow: writes past its end, then truncates it again. */
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
