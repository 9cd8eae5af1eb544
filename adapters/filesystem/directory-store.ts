/**
 * Files in a directory of this machine. What is being written stands in a directory of its process, which holds a lock
 * on it, and is linked to its place once it is flushed: whatever is found in the directory of a process that is gone
 * came to nothing, or is asked about.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { type FileHandle, link, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DirectoryInUse, lockDirectory, privateDirectory } from '@annals/engines';
import {
  type FileStore,
  NotStored,
  UnavailableError,
  type Unsettled,
  type Writing,
} from '../../application/ports/index.js';

const FILE = 0o600;
const DIRECTORY = 0o700;
/** Of one that waits to be settled: what it is called, and who is to know of it. */
const MARK = '~';
const NAME = /^[\w-]{22}$/;
const READ = 128 * 1024;

/** `directory` is this store's own; no two processes need another. */
export function createDirectoryStore(directory: string): FileStore {
  const kept = join(directory, 'kept');
  const begun = join(directory, 'new');
  for (const each of [directory, kept, begun]) privateDirectory(each);
  const process = randomUUID();
  const own = join(begun, process);
  // Locked before anybody can find it: whoever clears away takes what is not locked for left behind.
  const unseen = join(directory, `${process}.new`);
  lockDirectory(unseen);
  renameSync(unseen, own);

  /** Many thousands in one directory are slow to look through. */
  const shelfOf = (stored: string) => join(kept, stored.slice(0, 2));
  const placeOf = (stored: string) => join(shelfOf(stored), stored);

  async function begin(): Promise<Writing> {
    const stored = freshName();
    let path = join(own, stored);
    const file = await refused(open(path, 'wx', FILE));
    let isOpen = true;
    const close = async () => {
      if (isOpen) await file.close();
      isOpen = false;
    };
    let isKept = false;
    return {
      stored,
      write: (bytes) => refused(writeAll(file, bytes)),
      async keep(of) {
        await refused(file.sync());
        await close();
        const marked = join(own, stored + MARK + of);
        await refused(rename(path, marked));
        path = marked;
        await refused(mkdir(shelfOf(stored), { recursive: true, mode: DIRECTORY }));
        isKept = true;
        await refused(link(path, placeOf(stored)));
        // The link, and the shelf that it stands on, outlive a power cut only then.
        for (const each of [own, shelfOf(stored), kept]) await refused(flush(each));
      },
      async drop() {
        await close();
        if (isKept) await remove(stored);
        await rm(path, { force: true });
      },
    };
  }

  async function* read(stored: string, from: number, to: number): AsyncGenerator<Uint8Array> {
    if (!NAME.test(stored)) throw new NotStored('no file is called so');
    const file = await open(placeOf(stored), 'r').catch((cause) => {
      throw cause.code === 'ENOENT' ? new NotStored('there is no such file', { cause }) : cause;
    });
    try {
      for (let at = from; at < to; ) {
        const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(READ, to - at)), 0, null, at);
        if (bytesRead === 0) throw new NotStored('the file is shorter than it was');
        at += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
  }

  async function remove(stored: string): Promise<void> {
    if (NAME.test(stored)) await refused(rm(placeOf(stored), { force: true }));
  }

  /** It is its own process that settles it, or one that has found it. */
  async function settle(stored: string): Promise<void> {
    for (const each of await readdir(begun)) {
      for (const name of await entriesOf(join(begun, each)))
        if (nameIn(name) === stored) await rm(join(begun, each, name), { force: true });
    }
  }

  async function* unsettled(): AsyncGenerator<Unsettled> {
    for (const each of await readdir(begun)) {
      const theirs = join(begun, each);
      if (theirs === own || !takeOver(theirs)) continue;
      const left = (await entriesOf(theirs)).filter((name) => NAME.test(nameIn(name)));
      for (const name of left) yield { stored: nameIn(name), of: name.split(MARK)[1] };
      // Whoever looks through these settles each; then nothing is left of that process.
      const rest = (await entriesOf(theirs)).filter((name) => NAME.test(nameIn(name)));
      if (rest.length === 0) await rm(theirs, { recursive: true, force: true });
    }
  }

  return { begin, read, remove, settle, unsettled };
}

const freshName = () => randomBytes(16).toString('base64url');

const nameIn = (entry: string) => entry.split(MARK)[0] ?? '';

/** Another process may have cleared it away meanwhile. */
const entriesOf = (directory: string) => readdir(directory).catch(() => [] as string[]);

/** Whether the process whose directory this is has gone. */
function takeOver(directory: string): boolean {
  try {
    lockDirectory(directory).release();
    return true;
  } catch (error) {
    if (error instanceof DirectoryInUse) return false;
    throw error;
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
}

async function flush(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const FULL: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'EROFS', 'EIO'];

/** What a disk refuses now it may take later. */
const refused = <T>(call: Promise<T>): Promise<T> =>
  call.catch((cause) => {
    if (FULL.includes(cause.code)) throw new UnavailableError('the file store takes nothing now', { cause });
    throw cause;
  });
