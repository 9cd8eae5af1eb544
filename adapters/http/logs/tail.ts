/** Route of the live tail. */
import type { Tail } from '../../realtime/logs/log-tail.js';
import { isProblem } from '../server/problem.js';
import { type Admit, type Route, route } from '../server/route.js';
import type { LogCaller } from './admission.js';
import { filterOf, filterProperties } from './filters.js';

export interface TailRouteDeps {
  readonly tail: Tail;
  readonly admit: Admit<LogCaller>;
  readonly security: readonly string[];
}

export function tailRoute({ tail, admit, security }: TailRouteDeps): Route {
  return route({
    method: 'GET',
    path: '/api/logs/tail',
    tags: ['Records'],
    summary: 'Follow new records, as server-sent events',
    description:
      'Each event is one record, in log order, filtered like `/api/logs`. Resume with `Last-Event-ID`, or start at ' +
      'the `Position` of a page (as `lastEventId`, so that nothing is missed even if the connection breaks before ' +
      'the first record). After too long a pause, one `{"type":"RESET"}` says that records were missed. An ' +
      'interrupted batch is sent again: use record ids to drop duplicates.',
    security,
    query: { type: 'object', properties: { ...filterProperties, lastEventId: { type: 'string' } } },
    answers: { 200: { description: 'The stream', type: 'text/event-stream' } },
    admit,
    handle({ query, cursor }) {
      const filter = filterOf(query);
      if (isProblem(filter)) return filter;
      return { stream: (sink) => tail.connect(filter, cursor, sink) };
    },
  });
}
