/** Events and read models of the analytics service. */
import { analyticsThings } from '../../../application/analytics/past-states.js';
import { catalog } from '../../../domain/analytics/catalog.js';
import { days } from '../../../projections/analytics/daily-counts.js';
import { raw } from '../../../projections/analytics/raw.js';
import type { ServiceDefinition } from '../../node/service.js';

export const analytics: ServiceDefinition<typeof catalog> = {
  name: 'analytics',
  catalog,
  projections: [days, raw],
  things: analyticsThings,
};
