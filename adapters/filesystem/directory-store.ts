/**
 * File store in a local directory.
 *
 * Uploads are written to a locked directory per process, flushed, and linked to their final place. Files
 * in the directory of a dead process were never finished, or must be settled by asking their owners.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { type FileHandle, link, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DirectoryInUse, ensurePrivateDirectory, lockDirectory } from '@annals/engines';
import {
  type FileStore,
  NotStored,
  UnavailableError,
  type Unsettled,
  type Writing,
} from '../../application/ports/index.js';

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
/** Separates the id of an unsettled file from its owner, in its name. */
export const OWNER_SEPARATOR = '~';
const ID = /^[\w-]{22}$/;
const READ_BYTES = 128 * 1024;

/** Creates a file store. `directory` must be used by this store only; several processes may share it. */
export function createDirectoryStore(directory: string): FileStore {
  const finalDir = join(directory, 'kept');
  const uploadsDir = join(directory, 'new');
  for (const each of [directory, finalDir, uploadsDir]) ensurePrivateDirectory(each);
  const processId = randomUUID();
  const ownDir = join(uploadsDir, processId);
  // Locked before it gets its visible name: other processes take over directories without a lock.
  const hiddenDir = join(directory, `${processId}.new`);
  lockDirectory(hiddenDir);
  renameSync(hiddenDir, ownDir);

  /** Subdirectories, since a directory with many thousands of files is slow. */
  const bucketOf = (stored: string) => join(finalDir, stored.slice(0, 2));
  const pathOf = (stored: string) => join(bucketOf(stored), stored);

  async function begin(): Promise<Writing> {
    const stored = newId();
    let path = join(ownDir, stored);
    const file = await translateDiskErrors(open(path, 'wx', FILE_MODE));
    let isOpen = true;
    const close = async () => {
      if (isOpen) await file.close();
      isOpen = false;
    };
    let isLinked = false;
    return {
      stored,
      write: (bytes) => translateDiskErrors(writeAll(file, bytes)),
      async keep(of) {
        await translateDiskErrors(file.sync());
        await close();
        const marked = join(ownDir, stored + OWNER_SEPARATOR + of);
        await translateDiskErrors(rename(path, marked));
        path = marked;
        await translateDiskErrors(mkdir(bucketOf(stored), { recursive: true, mode: DIRECTORY_MODE }));
        isLinked = true;
        await translateDiskErrors(link(path, pathOf(stored)));
        // Only then do the link and its directory survive a power failure.
        for (const each of [ownDir, bucketOf(stored), finalDir]) await translateDiskErrors(flush(each));
      },
      async drop() {
        await close();
        if (isLinked) await remove(stored);
        await rm(path, { force: true });
      },
    };
  }

  async function* read(stored: string, from: number, to: number): AsyncGenerator<Uint8Array> {
    if (!ID.test(stored)) throw new NotStored('not a valid file id');
    const file = await open(pathOf(stored), 'r').catch((cause) => {
      throw cause.code === 'ENOENT' ? new NotStored('file not found', { cause }) : cause;
    });
    try {
      for (let at = from; at < to; ) {
        const { bytesRead, buffer } = await file.read(Buffer.alloc(Math.min(READ_BYTES, to - at)), 0, null, at);
        if (bytesRead === 0) throw new NotStored('the file is truncated');
        at += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    } finally {
      await file.close();
    }
  }

  async function remove(stored: string): Promise<void> {
    if (ID.test(stored)) await translateDiskErrors(rm(pathOf(stored), { force: true }));
  }

  /** Called by the process that wrote the file, or by one that took its directory over. */
  async function settle(stored: string): Promise<void> {
    for (const each of await readdir(uploadsDir)) {
      for (const name of await entriesOf(join(uploadsDir, each)))
        if (idIn(name) === stored) await rm(join(uploadsDir, each, name), { force: true });
    }
  }

  async function* unsettled(): AsyncGenerator<Unsettled> {
    for (const each of await readdir(uploadsDir)) {
      const otherDir = join(uploadsDir, each);
      if (otherDir === ownDir || !isAbandoned(otherDir)) continue;
      const files = (await entriesOf(otherDir)).filter((name) => ID.test(idIn(name)));
      for (const name of files) yield { stored: idIn(name), of: name.split(OWNER_SEPARATOR)[1] };
      // The caller settles each yielded file; the directory is removed once it is empty.
      const rest = (await entriesOf(otherDir)).filter((name) => ID.test(idIn(name)));
      if (rest.length === 0) await rm(otherDir, { recursive: true, force: true });
    }
  }

  return { begin, read, remove, settle, unsettled };
}

const newId = () => randomBytes(16).toString('base64url');

const idIn = (entry: string) => entry.split(OWNER_SEPARATOR)[0] ?? '';

/** Another process may have removed it. */
const entriesOf = (directory: string) => readdir(directory).catch(() => [] as string[]);

/** Whether the process that owned the directory is dead. */
function isAbandoned(directory: string): boolean {
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

const TEMPORARY_CODES: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'EROFS', 'EIO'];

/** Translates disk errors that may be temporary. */
const translateDiskErrors = <T>(call: Promise<T>): Promise<T> =>
  call.catch((cause) => {
    if (TEMPORARY_CODES.includes(cause.code))
      throw new UnavailableError('the file store accepts no writes now', { cause });
    throw cause;
  });
