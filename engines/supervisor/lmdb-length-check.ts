/** Whether a store's file is as long as it must be: followed page by page, as lmdb has written it, where it ends early. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { RootDatabase } from 'lmdb';
import { RESTORE, StoreDamaged } from './store-check.js';

/** Where in a page, a root page, a record of a table and a node lmdb's data version 2 keeps what is asked for here. */
const HEADER = 24;
const PAGE = { number: 0, flags: 18, entries: 20 };
const ROOT_PAGE = {
  magic: HEADER,
  version: HEADER + 4,
  free: HEADER + 24,
  main: HEADER + 72,
  txn: HEADER + 128,
};
const TABLE_ROOT = 40;
const NODE = { low: 0, flags: 4, keyBytes: 6, key: 8 };
const MAGIC = 0xbeefc0de;
const VERSION = 2;
const IS_BRANCH = 1;
const IS_ELSEWHERE = 1;
const IS_TABLE = 2;
const NOWHERE = 2n ** 64n - 1n;

/**
 * Throws `StoreDamaged` when a page that is in use is missing, in whole or in part: whoever touches such a one later is
 * ended by the kernel, or reads zeros. A healthy file may end before pages that were given back, so that its length
 * alone says nothing; one that has all of them is not looked into.
 */
export function checkLength(environment: Pick<RootDatabase, 'getStats'>, file: string): void {
  const stats: { pageSize?: number; lastPageNumber?: number; lastTxnId?: number } = environment.getStats();
  const { pageSize = 0, lastPageNumber = 0, lastTxnId = 0 } = stats;
  const damaged = new StoreDamaged(`${file} is damaged or cut short: ${RESTORE}`);
  const open = openSync(file, 'r');
  try {
    const whole = Math.floor(fstatSync(open).size / pageSize);
    if (whole > lastPageNumber) return;
    const page = (number: number): Buffer => {
      if (number >= whole) throw damaged;
      const bytes = Buffer.allocUnsafe(pageSize);
      if (readSync(open, bytes, 0, pageSize, number * pageSize) < pageSize) throw damaged;
      return bytes;
    };
    const root = [page(0), page(1)].find((each) => Number(each.readBigUInt64LE(ROOT_PAGE.txn)) === lastTxnId);
    // Another version of lmdb: nothing can be said of its pages.
    if (root?.readUInt32LE(ROOT_PAGE.magic) !== MAGIC || root.readUInt32LE(ROOT_PAGE.version) !== VERSION) return;

    const table = (bytes: Buffer, at: number) => {
      const top = bytes.readBigUInt64LE(at + TABLE_ROOT);
      if (top !== NOWHERE) walk(Number(top));
    };
    const walk = (number: number) => {
      const bytes = page(number);
      if (Number(bytes.readBigUInt64LE(PAGE.number)) !== number) throw damaged;
      const isBranch = (bytes.readUInt16LE(PAGE.flags) & IS_BRANCH) !== 0;
      const end = HEADER + bytes.readUInt16LE(PAGE.entries);
      for (let entry = HEADER; entry < end; entry += 2) {
        const at = HEADER + bytes.readUInt16LE(entry);
        const size = bytes.readUInt32LE(at + NODE.low);
        const flags = bytes.readUInt16LE(at + NODE.flags);
        const value = at + NODE.key + bytes.readUInt16LE(at + NODE.keyBytes);
        if (isBranch) walk(size + flags * 2 ** 32);
        else if (flags & IS_ELSEWHERE) {
          const last = Number(bytes.readBigUInt64LE(value)) + Math.floor((HEADER - 1 + size) / pageSize);
          if (last >= whole) throw damaged;
        } else if (flags & IS_TABLE) table(bytes, value);
      }
    };
    // Of the pages that were given back there is a table too, and it is read before anything is written.
    table(root, ROOT_PAGE.free);
    table(root, ROOT_PAGE.main);
  } catch (error) {
    // An offset that leads out of its page, or a circle of them.
    throw error instanceof RangeError ? damaged : error;
  } finally {
    closeSync(open);
  }
}
