/** Dialog of the privacy settings, which also runs the cleanup. */
import { useState } from 'preact/hooks';
import { Dialog } from '../../shared/components/dialog.js';
import { Form } from '../../shared/components/form.js';
import { api } from '../api.js';
import type { Privacy } from '../contract.js';
import { day } from '../formatting.js';
import { loadReport } from '../state/report.js';
import { closeDialog } from '../state/selection.js';
import { privacyTexts, texts } from '../texts.js';

const factsOf = (privacy: Privacy): readonly string[] => [
  privacyTexts.noCookies,
  privacy.honorDoNotTrack ? privacyTexts.honorsDoNotTrack : privacyTexts.ignoresDoNotTrack,
  privacy.filterBots ? privacyTexts.filtersBots : privacyTexts.countsBots,
  privacy.countries ? privacyTexts.countries : privacyTexts.noCountries,
  privacyTexts.retention(privacy.retentionDays),
  ...(privacy.storeRaw ? [privacyTexts.raw(privacy.rawRetentionHours)] : []),
];

export function PrivacyDialog({ privacy }: { privacy: Privacy }) {
  const [cleaned, setCleaned] = useState('');
  async function cleanUp() {
    setCleaned('');
    const { aggregateRowsDeleted, aggregateCutoffDate, rawRowsDeleted } = await api.cleanup();
    setCleaned(privacyTexts.cleaned(aggregateRowsDeleted, day(aggregateCutoffDate), rawRowsDeleted));
    void loadReport();
  }
  return (
    <Dialog title={privacyTexts.title} onClose={closeDialog} closeLabel={texts.close}>
      <Form submitLabel={privacyTexts.cleanUp} onSubmit={cleanUp}>
        <ul id="privacy">
          {factsOf(privacy).map((fact) => (
            <li key={fact}>{fact}</li>
          ))}
        </ul>
        <p id="cleaned" role="status">
          {cleaned}
        </p>
      </Form>
    </Dialog>
  );
}
