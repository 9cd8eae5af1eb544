/** Route of past states, for the admins of a service. */
import type { FindStateAt } from '../../../application/audit/index.js';
import { flag, isRejection, object } from '../../../domain/shared/index.js';
import { type Route, type RouteOf, route } from './route.js';

interface StateAtRoute<Caller> extends Pick<RouteOf<string, undefined, undefined, Caller>, 'tags' | 'security'> {
  readonly path: string;
  readonly admit: NonNullable<Route['admit']>;
  /** For the document: `message:<id>, …`. */
  readonly things: string;
  readonly stateAt: FindStateAt;
  /** User whose rights apply; default: the caller may see everything of the service. */
  readonly viewerOf?: (caller: Caller) => string;
}

const text = { type: 'string' } as const;

export function stateAtRoute<Caller>(options: StateAtRoute<Caller>): Route {
  const { things, stateAt, viewerOf, ...access } = options;
  return route({
    ...access,
    method: 'GET',
    summary: 'Something as it was at a time, from the event log',
    description: 'Data that was erased since is shown as `(erased)`. Like `annals at`.',
    query: object({
      time: {
        type: 'string',
        format: 'date-time',
        description: 'ISO 8601 with an offset, such as `Z`; not in the future',
      },
      thing: { type: 'string', maxLength: 200, description: things },
    }),
    answers: {
      200: {
        description: '`changedAt`: when the last event up to then was recorded; `revision`: of it in its stream',
        schema: object({
          thing: text,
          time: text,
          changedAt: text,
          revision: { type: 'integer' },
          erased: flag,
          state: { type: 'object' },
        }),
      },
      400: { description: 'Another kind of thing, or a time in the future' },
      404: { description: 'It never existed, did not exist at that time, or is not visible to the caller' },
      410: { description: 'What the log had of it at that time is erased' },
    },
    async handle({ query: { time, thing } }, caller) {
      const result = await stateAt(thing, Date.parse(time), viewerOf?.(caller as Caller));
      if (isRejection(result)) return result;
      return { status: 200, body: { ...result.found }, position: result.position };
    },
  });
}
