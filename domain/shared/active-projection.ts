/** Active build of a read model, recorded in the event log so that all nodes and auditors see it. */
import { type Decider, type EventOf, event } from './decider.js';
import { type DataOf, object, text } from './schema.js';

const build = object({
  projection: text,
  version: { type: 'integer', minimum: 1 },
  /** MongoDB collection of the build. */
  collection: text,
});

/** Events that every service has besides its own. */
export const servedEvents = { ProjectionSwitched: event(build) };

export type ActiveBuild = DataOf<typeof build>;

export type ServedState = ActiveBuild | undefined;

export type SwitchProjection = { readonly type: 'SwitchProjection' } & ActiveBuild;

export type ProjectionSwitched = EventOf<{ readonly events: typeof servedEvents }>;

export const activeProjection: Decider<ServedState, SwitchProjection, ProjectionSwitched> = {
  initialState: undefined,
  decide: ({ type: _, ...build }, state) =>
    state?.collection === build.collection ? [] : [{ type: 'ProjectionSwitched', data: build }],
  evolve: { ProjectionSwitched: (_, build) => build },
};

/** Returns the stream that records the active build: `rooms.state` -> `rooms.projection-state`. */
export const servedStream = (projection: string): string => {
  const [service, ...question] = projection.split('.');
  return `${service}.projection-${question.join('.')}`;
};
