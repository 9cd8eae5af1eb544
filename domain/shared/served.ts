/** Which build of a read model is served: a fact in the log, so that every node and every auditor sees it. */
import type { Catalog } from './catalog.js';
import type { Decider, DomainEvent } from './decider.js';

export interface ServedBuild {
  readonly projection: string;
  readonly version: number;
  /** The MongoDB collection that holds it. */
  readonly collection: string;
}

export type ServedState = ServedBuild | undefined;

export type SwitchProjection = { readonly type: 'SwitchProjection' } & ServedBuild;

export type ProjectionSwitched = DomainEvent<'ProjectionSwitched', ServedBuild>;

export const served: Decider<ServedState, SwitchProjection, ProjectionSwitched> = {
  initialState: undefined,
  decide: ({ type: _, ...build }, state) =>
    state?.collection === build.collection ? [] : [{ type: 'ProjectionSwitched', data: build }],
  evolve: (_, event) => event.data,
};

/** The build a switch speaks of, from the data of the event as it stands in the log. */
export const buildIn = (data: { readonly [key: string]: unknown }): ServedBuild => ({
  projection: String(data.projection),
  version: Number(data.version),
  collection: String(data.collection),
});

/** The stream that says what is served of a projection: `rooms.state` -> `rooms.projection-state`. */
export const servedStream = (projection: string): string => {
  const [service, ...question] = projection.split('.');
  return `${service}.projection-${question.join('.')}`;
};

/** The events every service's log may hold besides its own. */
export const servedEvents: Catalog['events'] = {
  ProjectionSwitched: {
    versions: [
      {
        schema: {
          type: 'object',
          required: ['projection', 'version', 'collection'],
          properties: {
            projection: { type: 'string' },
            version: { type: 'integer', minimum: 1 },
            collection: { type: 'string' },
          },
        },
      },
    ],
  },
};
