/** A service small enough to test the kernel with: boxes that toys are put into, with a sealed note. */
import { randomUUID } from 'node:crypto';
import type { CommandContext } from '../../application/ports.js';
import type { Aggregate } from '../../application/streams.js';
import { createKernel, type Kernel } from '../../bin/kernel.js';
import type { Catalog } from '../../domain/shared/catalog.js';
import type { Decider, DomainEvent } from '../../domain/shared/decider.js';
import type { Projection } from '../../projections/projection.js';
import { quiet, type Servers } from './engines.js';

export type ToyPut = DomainEvent<'ToyPut', { box: string; toy: string; secret: { note: string } }>;
/** The key that the notes are sealed under is destroyed. */
export type NotesErased = DomainEvent<'NotesErased', { box: string }>;
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

const decider: Decider<Box, PutToy, ToyPut | NotesErased> = {
  initialState: { toys: [], notes: [] },
  decide({ box, toy, note = '', most = Number.POSITIVE_INFINITY, erase }, { toys }) {
    if (erase) return [{ type: 'NotesErased', data: { box } }];
    if (toys.includes(toy)) return [];
    if (toys.length >= most) return { rejected: 'toys/full', kind: 'conflict' };
    return [{ type: 'ToyPut', data: { box, toy, secret: { note } } }];
  },
  evolve: ({ toys, notes }, event) =>
    event.type === 'NotesErased'
      ? { toys, notes }
      : { toys: [...toys, event.data.toy], notes: [...notes, event.data.secret.note] },
};

const text = { type: 'string' } as const;
const boxOf = ({ box }: { readonly box: string }) => `toys.box-${box}`;

export const toys: Catalog = {
  service: 'toys',
  events: {
    ToyPut: {
      versions: [
        {
          schema: {
            type: 'object',
            required: ['box', 'toy', 'secret'],
            properties: { box: text, toy: text, secret: { type: 'object', properties: { note: text } } },
          },
        },
      ],
      sealed: { subject: boxOf, erased: { note: 'erased' } },
    },
    NotesErased: {
      versions: [{ schema: { type: 'object', required: ['box'], properties: { box: text } } }],
      erases: boxOf,
    },
  },
};

export const box: Aggregate<Box, PutToy, ToyPut | NotesErased> = { catalog: toys, decider };

export const contents: Projection = {
  name: 'toys.contents',
  version: 1,
  indexes: [{ key: { count: 1 } }],
  on: {
    ToyPut: ({ data }) => [
      {
        put: String(data.box),
        update: { $inc: { count: 1 }, $push: { toys: { toy: data.toy, note: data.secret } } },
      },
    ],
  },
};

export const startToys = (servers: Servers, database: string, projections = [contents]): Promise<Kernel> =>
  createKernel({
    eventStoreUrl: servers.eventStoreUrl,
    mongoUrl: servers.mongoUrl,
    mongoDatabase: database,
    node: randomUUID(),
    release: 'test',
    catalogs: [toys],
    projections,
    logger: quiet,
  });

export const context = (commandId: string = randomUUID(), fingerprint?: string): CommandContext => ({
  commandId,
  actor: 'tester',
  correlationId: 'test',
  ...(fingerprint ? { fingerprint } : {}),
});
