/** Events and read models of the log service. */
import { logsThings } from '../../../application/logs/alerts/past-states.js';
import { catalog } from '../../../domain/logs/catalog.js';
import { alertHistory } from '../../../projections/logs/alerts.js';
import { records } from '../../../projections/logs/index/records.js';
import type { ServiceDefinition } from '../../node/service.js';

export const logs: ServiceDefinition<typeof catalog> = {
  name: 'logs',
  catalog,
  projections: [records, alertHistory],
  things: logsThings,
};
