/** Compacts filter groups of single blocks into groups of many. */
import { createYielder } from '../../../application/concurrency/index.js';
import type { Build } from '../../kernel/index.js';
import {
  type BlockFilters,
  decryptFilters,
  type FilterGroupRow,
  filterGroupsIn,
  filterGroupsOf,
  headersIn,
  sealFilterGroup,
} from './filter-group.js';
import { sectionsCollection } from './partitions.js';
import { replaceOlder } from './rows.js';

/** Groups worth compacting, and the maximum blocks of a compacted group. */
const BLOCKS = { min: 16, max: 64 };
const MAX_BYTES = 1024 * 1024;
/** Producer-days, per partition, with a cached number of uncompacted groups. */
const MAX_CACHED = 1000;

interface PendingGroups {
  readonly part: string;
  readonly subject: string;
  count: number | undefined;
}

export function createFilterCompactor(build: Build) {
  const pendingByKey = new Map<string, PendingGroups>();
  const changed = new Set<PendingGroups>();
  const yieldIfDue = createYielder();

  /**
   * Deletes the single groups after writing the compacted one: readers may see blocks twice, but never miss one. Does
   * nothing when their key is destroyed.
   */
  async function mergeGroups(part: string, filterGroups: readonly FilterGroupRow[]): Promise<void> {
    const [first] = filterGroups;
    const entries: BlockFilters[] = [];
    for (const filterGroup of filterGroups) {
      const filters = await decryptFilters(build.vault, filterGroup.subject, filterGroup.sections ?? {});
      if (!filters) return;
      for (const [nth, header] of headersIn(filterGroup).entries())
        entries.push({ header, filters: new Map(Array.from(filters, ([name, all]) => [name, all[nth]!])) });
      await yieldIfDue();
    }
    const mergedGroup = first && (await sealFilterGroup(build.vault, 'many', first.received, entries));
    if (!mergedGroup) return;
    await build.write(sectionsCollection(part), [...mergedGroup.terms, mergedGroup.row].map(replaceOlder));
    const mergedIds = filterGroups.map(({ _id }) => _id);
    await filterGroupsIn(build.collection(sectionsCollection(part))).deleteMany({ _id: { $in: mergedIds } });
  }

  async function compactSubject(pending: PendingGroups): Promise<void> {
    const { part, subject } = pending;
    const rows = filterGroupsIn(build.collection(sectionsCollection(part)));
    const singleGroups = filterGroupsOf(subject, 'one');
    pending.count ??= await rows.countDocuments(singleGroups);
    if (pending.count < BLOCKS.min) return;
    let batch: FilterGroupRow[] = [];
    let bytes = 0;
    for await (const filterGroup of rows.find(singleGroups, { batchSize: BLOCKS.min }).sort({ _id: 1 })) {
      batch.push(filterGroup);
      bytes += Object.values(filterGroup.sections ?? {}).reduce((sum, section) => sum + section.length(), 0);
      if (batch.length < BLOCKS.max && bytes < MAX_BYTES) continue;
      await mergeGroups(part, batch);
      [batch, bytes] = [[], 0];
    }
    await mergeGroups(part, batch);
    pending.count = 0;
  }

  return {
    note(part: string, subject: string) {
      const key = `${part} ${subject}`;
      const pending = pendingByKey.get(key) ?? { part, subject, count: undefined };
      pendingByKey.set(key, pending);
      if (pending.count !== undefined) pending.count++;
      changed.add(pending);
    },

    /** Compacts where worthwhile; to be called when the rows are written. */
    async compact() {
      for (const pending of changed) if ((pending.count ?? BLOCKS.min) >= BLOCKS.min) await compactSubject(pending);
      changed.clear();
      if (pendingByKey.size > MAX_CACHED) pendingByKey.clear();
    },
  };
}
