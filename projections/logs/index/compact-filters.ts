/** Makes registers of many blocks out of those of one, some at a time. */
import { createYielder } from '../../../application/concurrency/index.js';
import type { Build } from '../../kernel/index.js';
import {
  type Entered,
  headersIn,
  openFilters,
  type RegisterRow,
  registersIn,
  registersOf,
  sealRegister,
} from './filter-group.js';
import { sectionsIn } from './partitions.js';
import { replacing } from './rows.js';

/** So many are worth to be one; and so many blocks, or so many bytes of terms, are as much as one takes. */
const BLOCKS = { least: 16, most: 64 };
const MOST_BYTES = 1024 * 1024;
/** Of how many subjects, each in a part, it is remembered how many registers of one block they have. */
const MOST_REMEMBERED = 1000;

export interface Registering {
  /** A register of one block was made. */
  note(part: string, subject: string): void;
  /** To be called when they stand in their rows. */
  gather(): Promise<void>;
}

interface Single {
  readonly part: string;
  readonly subject: string;
  /** Undefined: nobody has looked. */
  count: number | undefined;
}

export function startRegistering(build: Build): Registering {
  const known = new Map<string, Single>();
  const changed = new Set<Single>();
  const breathe = createYielder();

  /** Those of one go when that of many is there: who comes in between finds their blocks twice. They stay without their key. */
  async function join(part: string, registers: readonly RegisterRow[]): Promise<void> {
    const [first] = registers;
    const entered: Entered[] = [];
    for (const register of registers) {
      const filters = await openFilters(build.vault, register.subject, register.sections ?? {});
      if (!filters) return;
      for (const [nth, header] of headersIn(register).entries())
        entered.push({ header, filters: new Map(Array.from(filters, ([name, all]) => [name, all[nth]!])) });
      await breathe();
    }
    const one = first && (await sealRegister(build.vault, 'many', first.received, entered));
    if (!one) return;
    await build.write(sectionsIn(part), [...one.terms, one.row].map(replacing));
    const joined = registers.map(({ _id }) => _id);
    await registersIn(build.collection(sectionsIn(part))).deleteMany({ _id: { $in: joined } });
  }

  async function look(single: Single): Promise<void> {
    const { part, subject } = single;
    const rows = registersIn(build.collection(sectionsIn(part)));
    const ofOne = registersOf(subject, 'one');
    single.count ??= await rows.countDocuments(ofOne);
    if (single.count < BLOCKS.least) return;
    let some: RegisterRow[] = [];
    let bytes = 0;
    for await (const register of rows.find(ofOne, { batchSize: BLOCKS.least }).sort({ _id: 1 })) {
      some.push(register);
      bytes += Object.values(register.sections ?? {}).reduce((sum, section) => sum + section.length(), 0);
      if (some.length < BLOCKS.most && bytes < MOST_BYTES) continue;
      await join(part, some);
      [some, bytes] = [[], 0];
    }
    await join(part, some);
    single.count = 0;
  }

  return {
    note(part, subject) {
      const key = `${part} ${subject}`;
      const single = known.get(key) ?? { part, subject, count: undefined };
      known.set(key, single);
      if (single.count !== undefined) single.count++;
      changed.add(single);
    },

    async gather() {
      for (const single of changed) if ((single.count ?? BLOCKS.least) >= BLOCKS.least) await look(single);
      changed.clear();
      if (known.size > MOST_REMEMBERED) known.clear();
    },
  };
}
