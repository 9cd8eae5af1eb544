/** A requested rebuild of the record index: its start and its result. Stream `logs.reindex-<id>`. */
import type { Decider } from '../shared/index.js';
import type { LogsEvent } from './catalog.js';

export type ReindexResult = Omit<LogsEvent<'RebuildFinished'>['data'], 'id'>;

export type RebuildCommand =
  | { readonly type: 'BeginRebuild'; readonly id: string; readonly startedAt: number }
  | ({ readonly type: 'FinishRebuild'; readonly id: string } & ReindexResult);

export type RebuildEvent = LogsEvent<'RebuildBegun' | 'RebuildFinished'>;

export interface RebuildState {
  readonly begun: boolean;
  readonly rebuilt?: ReindexResult;
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

  evolve: {
    RebuildBegun: (state) => ({ ...state, begun: true }),
    RebuildFinished: (state, { id: _, ...rebuilt }) => ({ ...state, rebuilt }),
  },
};
