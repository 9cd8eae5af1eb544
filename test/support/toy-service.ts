/** A service small enough to test the kernel with: boxes that toys are put into, with a sealed note. */
import { randomUUID } from 'node:crypto';
import type { Servers } from '@annals/engines/testing/engines.js';
import type { Aggregate } from '../../application/command/aggregate.js';
import type { CommandContext } from '../../application/ports/index.js';
import type { Kernel } from '../../bin/node/kernel.js';
import { type Catalog, type Decider, type EventOf, event } from '../../domain/shared/decider.js';
import { object } from '../../domain/shared/schema.js';
import type { Projection } from '../../projections/kernel/projection.js';
import { createTestKernel } from './test-kernel.js';

const text = { type: 'string' } as const;
const boxOf = ({ box }: { readonly box: string }) => `toys.box-${box}`;

export const toys = {
  service: 'toys',
  events: {
    ToyPut: event(object({ box: text, toy: text, secret: object({}, { note: text }) }), {
      sealed: { subject: boxOf, erased: { note: 'erased' } },
    }),
    /** The key that the notes are sealed under is destroyed. */
    NotesErased: event(object({ box: text }), { erases: boxOf }),
  },
} as const satisfies Catalog;

export type ToyEvent = EventOf<typeof toys>;
export type ToyPut = EventOf<typeof toys, 'ToyPut'>;

export interface Box {
  readonly toys: readonly string[];
  readonly notes: readonly string[];
}
export interface PutToy {
  readonly box: string;
  readonly toy: string;
  readonly note?: string;
  readonly most?: number;
  /** Instead of putting a toy. */
  readonly erase?: true;
}

const decider: Decider<Box, PutToy, ToyEvent> = {
  initialState: { toys: [], notes: [] },
  decide({ box, toy, note = '', most = Number.POSITIVE_INFINITY, erase }, { toys }) {
    if (erase) return [{ type: 'NotesErased', data: { box } }];
    if (toys.includes(toy)) return [];
    if (toys.length >= most) return { rejected: 'toys/full', kind: 'conflict' };
    return [{ type: 'ToyPut', data: { box, toy, secret: { note } } }];
  },
  evolve: {
    ToyPut: ({ toys, notes }, { toy, secret }) => ({
      toys: [...toys, toy],
      notes: [...notes, secret.note ?? ''],
    }),
    NotesErased: (state) => state,
  },
};

export const box: Aggregate<Box, PutToy, ToyEvent> = { catalog: toys, decider };

export const contents: Projection<ToyPut> = {
  name: 'toys.contents',
  version: 1,
  indexes: [{ key: { count: 1 } }],
  on: {
    ToyPut: ({ data }) => [
      {
        put: data.box,
        update: { $inc: { count: 1 }, $push: { toys: { toy: data.toy, note: data.secret } } },
      },
    ],
  },
};

export const startToys = (servers: Servers, database: string, projections = [contents]): Promise<Kernel> =>
  createTestKernel({ servers, database, catalogs: [toys], projections });

export const context = (commandId: string = randomUUID(), fingerprint?: string): CommandContext => ({
  commandId,
  actor: 'tester',
  correlationId: 'test',
  ...(fingerprint ? { fingerprint } : {}),
});
