/** Checks that a store's file is not truncated. If it ends early, follows lmdb's page tree to find missing pages. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { RootDatabase } from 'lmdb';
import { RESTORE_HINT, StoreDamaged } from './store-check.js';

/** Byte offsets in lmdb data version 2: in a page, a root page, a table record and a node. */
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
const IS_OVERFLOW = 1;
const IS_TABLE = 2;
const NO_PAGE = 2n ** 64n - 1n;

/**
 * Throws `StoreDamaged` when a page in use is missing, in whole or in part. Touching such a page through the memory
 * map would kill the process (SIGBUS) or read zeros.
 *
 * A healthy file may end before freed pages, so its length alone proves nothing. A file that holds all pages is not
 * examined.
 */
export function checkLength(environment: Pick<RootDatabase, 'getStats'>, file: string): void {
  const stats: { pageSize?: number; lastPageNumber?: number; lastTxnId?: number } = environment.getStats();
  const { pageSize = 0, lastPageNumber = 0, lastTxnId = 0 } = stats;
  const damaged = new StoreDamaged(`${file} is damaged or cut short: ${RESTORE_HINT}`);
  const open = openSync(file, 'r');
  try {
    const pageCount = Math.floor(fstatSync(open).size / pageSize);
    if (pageCount > lastPageNumber) return;
    const page = (number: number): Buffer => {
      if (number >= pageCount) throw damaged;
      const bytes = Buffer.allocUnsafe(pageSize);
      if (readSync(open, bytes, 0, pageSize, number * pageSize) < pageSize) throw damaged;
      return bytes;
    };
    const root = [page(0), page(1)].find((each) => Number(each.readBigUInt64LE(ROOT_PAGE.txn)) === lastTxnId);
    // Unknown lmdb version: its pages cannot be checked.
    if (root?.readUInt32LE(ROOT_PAGE.magic) !== MAGIC || root.readUInt32LE(ROOT_PAGE.version) !== VERSION) return;

    const walkTable = (bytes: Buffer, at: number) => {
      const top = bytes.readBigUInt64LE(at + TABLE_ROOT);
      if (top !== NO_PAGE) walkPage(Number(top));
    };
    const walkPage = (number: number) => {
      const bytes = page(number);
      if (Number(bytes.readBigUInt64LE(PAGE.number)) !== number) throw damaged;
      const isBranch = (bytes.readUInt16LE(PAGE.flags) & IS_BRANCH) !== 0;
      const end = HEADER + bytes.readUInt16LE(PAGE.entries);
      for (let entry = HEADER; entry < end; entry += 2) {
        const at = HEADER + bytes.readUInt16LE(entry);
        const size = bytes.readUInt32LE(at + NODE.low);
        const flags = bytes.readUInt16LE(at + NODE.flags);
        const value = at + NODE.key + bytes.readUInt16LE(at + NODE.keyBytes);
        if (isBranch) walkPage(size + flags * 2 ** 32);
        else if (flags & IS_OVERFLOW) {
          const last = Number(bytes.readBigUInt64LE(value)) + Math.floor((HEADER - 1 + size) / pageSize);
          if (last >= pageCount) throw damaged;
        } else if (flags & IS_TABLE) walkTable(bytes, value);
      }
    };
    // The table of free pages is checked too: lmdb reads it before every write.
    walkTable(root, ROOT_PAGE.free);
    walkTable(root, ROOT_PAGE.main);
  } catch (error) {
    // An offset that points out of its page, or a cycle of pages.
    throw error instanceof RangeError ? damaged : error;
  } finally {
    closeSync(open);
  }
}
