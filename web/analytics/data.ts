/** Privacy dialog: shows the privacy settings and runs the cleanup. */
import { byId, element } from '../shared/dom.js';
import type { Api } from './api.js';
import type { Privacy } from './contract.js';
import { formDialog } from './dialogs.js';
import { day, pluralize } from './formatting.js';

/** `onCleanup` runs after data was deleted. */
export function createDataDialog(api: Api, onCleanup: () => void) {
  const status = byId('cleaned');
  const dialog = formDialog('data', async () => {
    status.textContent = '';
    const { aggregateCutoffDate, aggregateRowsDeleted, rawRowsDeleted } = await api.cleanup();
    const raw = rawRowsDeleted > 0 ? `, and ${pluralize(rawRowsDeleted, 'raw record')}` : '';
    const days = aggregateRowsDeleted > 0 ? pluralize(aggregateRowsDeleted, 'day') : 'No data';
    status.textContent = `Deleted: ${days} from before ${day(aggregateCutoffDate)}${raw}.`;
    onCleanup();
  });

  return (privacy: Privacy) => {
    const { honorDoNotTrack, filterBots, countries, retentionDays, storeRaw, rawRetentionHours } = privacy;
    const facts = [
      'No cookies. Addresses and user agents are not stored; visitors are distinguished for one day only.',
      honorDoNotTrack
        ? 'Visitors whose browser asks not to be tracked (DNT, GPC) are not counted.'
        : 'Visitors whose browser asks not to be tracked (DNT, GPC) are counted too.',
      filterBots ? 'Bots that identify themselves are not counted.' : 'Bots are counted like visitors.',
      countries ? 'Countries of visitors are counted.' : 'Countries are not counted.',
      `Counts are deleted automatically after ${pluralize(retentionDays, 'day')}.`,
      ...(storeRaw ? [`Operators of the server can see single hits for ${pluralize(rawRetentionHours, 'hour')}.`] : []),
    ];
    byId('privacy').replaceChildren(...facts.map((fact) => element('li', {}, fact)));
    status.textContent = '';
    dialog.open();
  };
}
