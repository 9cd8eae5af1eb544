/** What the settings say of privacy, and letting go now what is older than they allow. */
import { byId, element } from '../shared/dom.js';
import type { Api } from './api.js';
import type { Privacy } from './contract.js';
import { formDialog } from './dialogs.js';
import { day, pluralize } from './formatting.js';

/** `cleaned`: days may have gone from reports. */
export function createDataDialog(api: Api, cleaned: () => void) {
  const told = byId('cleaned');
  const dialog = formDialog('data', async () => {
    told.textContent = '';
    const { aggregateCutoffDate, aggregateRowsDeleted, rawRowsDeleted } = await api.cleanup();
    const raw = rawRowsDeleted > 0 ? `, and ${pluralize(rawRowsDeleted, 'raw record')}` : '';
    const days = aggregateRowsDeleted > 0 ? pluralize(aggregateRowsDeleted, 'day') : 'Nothing';
    told.textContent = `${days} from before ${day(aggregateCutoffDate)} was deleted${raw}.`;
    cleaned();
  });

  return (privacy: Privacy) => {
    const { honorDoNotTrack, filterBots, countries, retentionDays, storeRaw, rawRetentionHours } = privacy;
    const facts = [
      'No cookies. Neither addresses nor user agents are kept; visitors are told apart for one day only.',
      honorDoNotTrack
        ? 'Nobody is counted whose browser asks not to be tracked (DNT, GPC).'
        : 'Browsers that ask not to be tracked (DNT, GPC) are counted too.',
      filterBots ? 'Bots that say what they are do not count.' : 'Bots count like everybody.',
      countries ? 'The country of a visitor is counted.' : 'Countries are not counted.',
      `What was counted is kept for ${pluralize(retentionDays, 'day')}, and then goes by itself.`,
      ...(storeRaw
        ? [`Single hits can be looked at for ${pluralize(rawRetentionHours, 'hour')}, by who runs the server.`]
        : []),
    ];
    byId('privacy').replaceChildren(...facts.map((fact) => element('li', {}, fact)));
    told.textContent = '';
    dialog.open();
  };
}
