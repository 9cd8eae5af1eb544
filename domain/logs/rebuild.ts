/** A rebuild of the record index that was asked for: that it was begun, and what came of it. Stream `logs.reindex-<id>`. */
import type { Decider, DomainEvent } from '../shared/decider.js';

export interface Rebuilt {
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly recordsInserted: number;
  /** Were in the index before and are not any more: expired or erased meanwhile. */
  readonly recordsSkipped: number;
  readonly entriesDeleted: number;
}

export type RebuildCommand =
  | { readonly type: 'BeginRebuild'; readonly id: string; readonly startedAt: number }
  | ({ readonly type: 'FinishRebuild'; readonly id: string } & Rebuilt);

export type RebuildBegun = DomainEvent<'RebuildBegun', { readonly id: string; readonly startedAt: number }>;
export type RebuildFinished = DomainEvent<'RebuildFinished', { readonly id: string } & Rebuilt>;
export type RebuildEvent = RebuildBegun | RebuildFinished;

export interface RebuildState {
  readonly begun: boolean;
  readonly rebuilt?: Rebuilt;
}

export const rebuildStream = (id: string): string => `logs.reindex-${id}`;

export const rebuild: Decider<RebuildState, RebuildCommand, RebuildEvent> = {
  initialState: { begun: false },

  decide(command, { begun, rebuilt }) {
    if (command.type === 'BeginRebuild') {
      const { id, startedAt } = command;
      return begun ? [] : [{ type: 'RebuildBegun', data: { id, startedAt } }];
    }
    const { type: _, ...data } = command;
    return rebuilt ? [] : [{ type: 'RebuildFinished', data }];
  },

  evolve(state, event) {
    if (event.type === 'RebuildBegun') return { ...state, begun: true };
    const { id: _, ...rebuilt } = event.data;
    return { ...state, rebuilt };
  },
};
